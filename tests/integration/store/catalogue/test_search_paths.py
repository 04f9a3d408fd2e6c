"""A function of the schema finds its own tables, also where its caller has put others in front of them."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.database.attacks import FROZEN, acting, filled_company
from tests.support.shared_company import CompanyWithWorkers

STEP = "INSERT INTO approval_chain_steps SELECT tenant_id, name, version, 2, '{}' FROM public.approval_chains"
DECOY = (
    "CREATE TEMP TABLE approval_chains AS"
    " SELECT tenant_id, name, version, 'draft' AS status FROM approval_chains"
)


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


def test_a_temporary_table_does_not_stand_in_for_a_published_chain(standing: CompanyWithWorkers) -> None:
    with acting(standing, "signet_owner") as connection:
        connection.execute("UPDATE approval_chains SET status = 'published', published_at = now()")
        connection.execute("SET LOCAL ROLE signet_api")
        connection.execute(DECOY)
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(STEP)
        assert caught.value.sqlstate == FROZEN


def test_a_draft_takes_a_step_also_behind_a_temporary_table(standing: CompanyWithWorkers) -> None:
    with acting(standing, "signet_api") as connection:
        connection.execute(DECOY)
        connection.execute("UPDATE pg_temp.approval_chains SET status = 'published'")
        assert connection.execute(STEP).rowcount == 1
