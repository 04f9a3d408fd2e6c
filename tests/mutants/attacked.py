"""Ways around an approval that attacks have found, each opened again on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
SCENES = "tests/scenarios/authority"
HELD = "migrations/0032_hold_what_an_attack_got_around.sql"
EARLIER = f"{SCENES}/test_earlier_requesters.py::test_"

ATTACKED: Sequence[Mutation] = (
    Mutation(
        "who asked for the same before may vote",
        3,
        HELD,
        "AND earlier.transition = q.transition AND earlier.status = 'superseded'",
        "AND earlier.transition = q.transition AND earlier.status = 'open'",
        (
            f"{EARLIER}who_asked_first_stays_barred",
            f"{EARLIER}the_view_names_all_who_asked",
            f"{EARLIER}an_only_voter_who_asked_is_told_that_nobody_is_left",
        ),
    ),
)
