"""Faults in the calls about large definitions, which one tenant makes and all share (WF-07)."""

from tests.mutants.mutation import Mutation

ROUTES = "tests/functions/routes/definitions/test_heavy_calls.py::test_"
PROCESSES = "tests/local/test_heavy_processes.py::test_"

HEAVY = (
    Mutation(
        "a tenant has as many heavy calls at once as it likes",
        7,
        "shared/signet/store/definitions/designer.py",
        "    return row is not None and bool(row[0])\n",
        "    return True\n",
        (f"{ROUTES}another_call_of_the_tenant_is_refused_and_all_else_is_answered",),
    ),
    Mutation(
        "a large body is parsed before its heavy call is refused",
        7,
        "shared/signet/api/http/bodies.py",
        "            require_turn(read.connection, principal.tenant_id)\n",
        "            pass\n",
        (f"{ROUTES}what_is_refused_is_not_parsed",),
    ),
    Mutation(
        "a large workflow is parsed before its heavy call is refused",
        7,
        "shared/signet/engine/definitions/designer/preview.py",
        "        if for_heavy and len(stored[0]) > LARGE_ARTIFACT_BYTES:\n",
        "        if False:\n",
        (f"{ROUTES}what_is_refused_is_not_parsed",),
    ),
    Mutation(
        "a report of a heavy call is read before it is sent",
        7,
        "shared/signet/api/routes/definitions/preview.py",
        "compile(call.principal, definition_id), is_text=True)\n",
        "compile(call.principal, definition_id))\n",
        (f"{ROUTES}the_process_reads_the_text_and_writes_the_answer",),
    ),
    Mutation(
        "a process for heavy calls has the secrets of the server",
        7,
        "shared/signet/wiring/heavy_processes.py",
        '                env={"PYTHONPATH":',
        '                env={**os.environ, "PYTHONPATH":',
        (f"{PROCESSES}the_process_has_nothing_of_the_servers_environment",),
    ),
    Mutation(
        "a process for heavy calls that was killed is not started again",
        7,
        "shared/signet/wiring/heavy_processes.py",
        "        if self._running is not None and self._running.poll() is not None:\n",
        "        if False:\n",
        (f"{PROCESSES}a_process_that_was_killed_between_two_calls_is_not_noticed",),
    ),
)
