"""Faults in what stands around approvals: paths of functions, ids of people, files of tenants, secrets."""

from tests.mutants.mutation import Mutation

CATALOGUE = "tests/integration/store/catalogue/test_"

PATHS = (
    Mutation(
        "a trigger looks where its caller has set the path to",
        4,
        "migrations/0014_pin_search_paths.sql",
        "ALTER FUNCTION reject_published_chain_mutation() SET search_path = pg_catalog, public, pg_temp;",
        "",
        (
            f"{CATALOGUE}search_paths.py::test_a_temporary_table_does_not_stand_in_for_a_published_chain",
            f"{CATALOGUE}search_paths.py::test_a_draft_takes_a_step_also_behind_a_temporary_table",
            f"{CATALOGUE}catalogue.py::test_the_migrated_database_keeps_every_rule",
        ),
    ),
)
SURROUNDINGS = (*PATHS,)
