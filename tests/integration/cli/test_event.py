"""`signet event …` as an operator calls it: what became of events, and one that is offered again."""

from uuid import uuid4

from typer.testing import CliRunner

from signet.cli.main import app
from signet.engine.integrations.inbound_events import InboundEvents
from tests.support.company import Company
from tests.support.database.runtime_roles import as_role
from tests.support.invoice_instances import Admin, read


def test_events_are_listed_and_offered_again(company: Company, admin: Admin, owner_url: str) -> None:
    events = InboundEvents(company.database, lambda tenant_id, name: None)
    kept = events.send(company.caller(), "paid:R-1", None, 1)
    taken = events.send(company.caller(), "paid:R-2", None, 1)
    admin.execute("UPDATE workflow_inbound_events SET taken_at = now() WHERE id = %s", [taken.id])

    def run(*words: object, exit_code: int = 0) -> str:
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        told = ["event", *map(str, words), "--tenant", str(company.tenant_id)]
        result = CliRunner().invoke(app, told, env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    newest, older = run("list").splitlines()
    assert newest.startswith(str(taken.id)) and newest.endswith("paid:R-2  from sender:carl  taken")
    assert older.endswith("paid:R-1  from sender:carl  kept")
    assert run("list", "--unmatched").splitlines() == [older]
    assert run("list", "--key", "paid:R-2").splitlines() == [newest]
    why = ("--actor", "olga", "--reason", "it was late")
    assert "offered to 0 wait(s) for paid:R-1" in run("replay", kept.id, *why)
    noted = "SELECT content::jsonb ->> 'action' FROM audit_log WHERE subject_type = 'inbound_event'"
    assert read(admin, noted) == [("replay",)]
    assert "a workflow has taken the event" in run("replay", taken.id, *why, exit_code=1)
    assert "there is no event" in run("replay", uuid4(), *why, exit_code=1)
