"""Faults in the bounds of what expressions give (WF-10)."""

from tests.mutants.mutation import Mutation

LARGE = "tests/integration/engine/execution/nodes/test_large_results.py::test_"
BOUNDS = "tests/unit/core/runtime/test_result_bounds.py::test_"
RENDER = "tests/unit/core/expressions/test_render.py::test_"

BOUNDING = (
    Mutation(
        "a template gives as much as it likes",
        10,
        "shared/signet/core/expressions/render.py",
        "            value = render(env, ByteBudget(MAX_RENDERED_BYTES))\n",
        "            value = render(env, ByteBudget(2**60))\n",
        (
            f"{RENDER}one_text_that_is_named_often",
            f"{LARGE}many_documents_with_large_payloads_write_no_large_row",
        ),
    ),
    Mutation(
        "the JSON of a list is written before it is known to fit",
        10,
        "shared/signet/core/expressions/render.py",
        "    if isinstance(value, list | dict) and not fits(value, budget.left):\n",
        "    if False:\n",
        (f"{RENDER}no_json_is_written_of_what_does_not_fit",),
    ),
    Mutation(
        "the items of a list take together as much as they like",
        10,
        "shared/signet/core/runtime/result_bounds.py",
        "            self._all.take(written_bytes)\n",
        "            return\n",
        (f"{LARGE}items_that_are_too_large_together",),
    ),
    Mutation(
        "a call is sent though its answer cannot be kept",
        10,
        "shared/signet/core/runtime/execution.py",
        "            full = check_room(node, self.projection.context)\n",
        "            full = None\n",
        (f"{LARGE}a_call_whose_answer_finds_no_room_is_not_sent",),
    ),
    Mutation(
        "a script sets as much as it likes",
        10,
        "shared/signet/core/runtime/decisions.py",
        "    if refused is not None:\n        return conclude_refused(",
        "    if False:\n        return conclude_refused(",
        (f"{BOUNDS}a_script_that_sets_too_much_sets_nothing",),
    ),
)
