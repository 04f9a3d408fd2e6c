"""Faults in the waits for events: who sends them, which wait has them, and what is missed."""

from collections.abc import Sequence

from tests.mutants.mutation import NO_INVARIANT, Mutation

ENGINE = "shared/signet/engine"
EVENT = f"{ENGINE}/execution/nodes/waits/event.py"
DOOR, INBOUND = f"{ENGINE}/integrations/event_door.py", f"{ENGINE}/integrations/inbound_events.py"
HELD, OFFERS = "shared/signet/store/instances/event_waits.py", "shared/signet/store/instances/event_waits.sql"
WAITING = "tests/integration/engine/execution/nodes/test_wait_event.py::test_"
PASSED_ON = "tests/integration/engine/execution/nodes/test_events_passed_on.py::test_"
SCENES = "tests/scenarios/authority/test_events.py::test_"
RACES = "tests/concurrency/test_events_and_waits.py::test_"
ROUTES = "tests/functions/routes/integrations/test_kept_events.py::test_"

EVENTS: Sequence[Mutation] = (
    Mutation(
        "who sends an event has no part in the document",
        NO_INVARIANT,
        EVENT,
        "            context.documents.widen_editors(context.document.id, frozenset(event.persons))\n",
        "            pass\n",
        (f"{SCENES}the_sender_may_not_decide", f"{SCENES}nor_who_made_the_endpoint_that_let_it_in"),
    ),
    Mutation(
        "who offers an event again has no part in the document",
        NO_INVARIANT,
        OFFERS,
        "s.hash IN (e.responsible, e.replayed_by)",
        "s.hash IN (e.responsible)",
        (f"{SCENES}nor_who_offers_it_again",),
    ),
    Mutation(
        "only the last who offers an event again stands behind it",
        NO_INVARIANT,
        "shared/signet/store/integrations/event_offers.py",
        "keep_responsible(connection, tenant_id, persons.union(event.replayed_by))",
        "keep_responsible(connection, tenant_id, persons)",
        (f"{PASSED_ON}who_offers_an_event_again_stands_behind_it_whoever_takes_it",),
    ),
    Mutation(
        "nobody is told of what an older wait could not use",
        NO_INVARIANT,
        EVENT,
        "        _pass_on(context, event)\n",
        "",
        (f"{PASSED_ON}a_younger_wait_has_what_an_older_one_was_offered_and_left",),
    ),
    Mutation(
        "an event misses the wait that begins beside it",
        NO_INVARIANT,
        DOOR,
        "    lock_key(connection, new.key)\n",
        "",
        (f"{RACES}an_event_waits_for_the_wave_that_begins_its_wait",),
    ),
    Mutation(
        "a wait misses the event that comes beside it",
        NO_INVARIANT,
        HELD,
        "connection.execute(_SQL.lock_keys, ",
        "dict(",
        (f"{RACES}a_wait_waits_for_the_event_that_comes_before_it",),
    ),
    Mutation(
        "a younger wait takes what is the older one's",
        NO_INVARIANT,
        EVENT,
        "            elif event.is_alone and has_older_offer(connection, tenant_id, step.id, event):\n"
        "                continue\n",
        "",
        (f"{WAITING}what_a_wait_leaves_goes_to_the_next",),
    ),
    Mutation(
        "two waits take an event that is for one",
        NO_INVARIANT,
        EVENT,
        "            if event.is_alone and event.taken_at is not None:\n",
        "            if event.is_alone and event.taken_at is None and event.key == '':\n",
        (f"{WAITING}the_oldest_wait_that_fits_consumes_an_event_alone",),
    ),
    Mutation(
        "what did not fit one wait is lost for the next",
        NO_INVARIANT,
        EVENT,
        "        _pass_on(context, event)\n",
        "",
        (f"{WAITING}the_oldest_wait_that_fits_consumes_an_event_alone",),
    ),
    Mutation(
        "an event that came too late ends the wait",
        NO_INVARIANT,
        EVENT,
        "lock_offers(connection, tenant_id, step.id, due)",
        "lock_offers(connection, tenant_id, step.id, None)",
        (f"{WAITING}what_came_too_late_loses_to_the_end_of_the_wait",),
    ),
    Mutation(
        "a payload that nobody can use comes in",
        NO_INVARIANT,
        DOOR,
        "    _require_fit(connection, tenant_id, new)\n",
        "",
        (f"{WAITING}a_payload_that_no_open_wait_can_use_is_refused_at_the_door",),
    ),
    Mutation(
        "a sender sends keys of another area",
        NO_INVARIANT,
        INBOUND,
        "    if not (read.may(SEND) or read.may(wanted)):\n",
        "    if not read.permissions:\n",
        (f"{ROUTES}a_person_sends_keys_of_their_area_alone",),
    ),
    Mutation(
        "anybody who reads events offers them again",
        NO_INVARIANT,
        f"{ENGINE}/integrations/kept_events.py",
        "            act.require(REPLAY)\n",
        "            act.require(READ)\n",
        (f"{ROUTES}only_who_may_offers_an_event_again",),
    ),
    Mutation(
        "a key with a hole waits for what is another's",
        NO_INVARIANT,
        "shared/signet/core/runtime/event_waits.py",
        '        empty = [name for name, read in variables.items() if read is None or read == ""]\n',
        "        empty = list[str]()\n",
        ("tests/unit/core/runtime/test_event_waits.py::test_a_key_with_a_hole_is_refused",),
    ),
)
