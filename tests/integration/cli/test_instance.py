"""`signet instance …` as an operator calls it, and as docs/operating.md shows it."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.execution.worker import Worker
from signet.store.tenants.tenants import save_members
from tests.support.company import Company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.invoice_instances import (
    Admin,
    bury,
    create,
    instance_of,
    publish_lanes,
    publish_patch,
    read,
    stand_of,
    submit,
    version_of,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operating.md"
Signet = Callable[..., str]
NOTING = {"draft_to_submitted": {"nodes": [{"id": "note", "type": "script", "config": {"set": {"x": "1"}}}]}}


@pytest.fixture
def signet(company: Company, owner_url: str) -> Signet:
    """Return a function that runs the command, checks its exit code and returns its output."""
    members = (
        Member(user_id="olga", display_name="Olga", roles=("admin",)),
        Member(user_id="carl", display_name="Carl", roles=("clerk",)),
    )
    with company.database.transaction(company.tenant_id) as connection:
        save_members(connection, company.tenant_id, members, COMMAND_LINE)

    def run(*words: object, exit_code: int = 0, url: str | None = None, actor: str | None = "olga") -> str:
        more = ["--tenant", str(company.tenant_id), *(["--actor", actor] if actor else [])]
        environment = {"SIGNET_DATABASE_URL": url or as_role(owner_url, "signet_api")}
        result = CliRunner().invoke(app, ["instance", *map(str, words), *more], env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


def test_what_is_listed(company: Company, worker: Worker, signet: Signet) -> None:
    made = create(company, worker)
    line = f"{made.instance_id}  running    version 2  invoice {made.document_id}  at sys:state:draft\n"
    assert signet("list", actor=None) == line
    assert signet("list", "--document", made.document_id, actor=None) == line
    assert signet("list", "--document", uuid4(), actor=None) == ""
    assert signet("list", "--status", "paused", "--status", "failed", actor=None) == ""
    (listed,) = json.loads(signet("list", "--json", actor=None))
    assert (listed["id"], listed["version"]) == (str(made.instance_id), 2)


def test_it_is_explained(company: Company, worker: Worker, signet: Signet) -> None:
    instance_id = instance_of(create(company, worker))
    said = signet("explain", instance_id, actor=None)
    assert 'Its workflow waits at the state "Draft".' in said
    explained = json.loads(signet("explain", instance_id, "--json", actor=None))
    assert explained["standing"][0]["node"] == "sys:state:draft"
    assert explained["happened"][0]["chosen_edge_ids"] == ["sys:edge:start>state:draft#created"]
    assert "there is no instance" in signet("explain", uuid4(), actor=None, exit_code=1)


def test_it_rests_goes_on_and_is_given_up(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    instance_id = instance_of(create(company, worker))
    paused = signet("pause", instance_id, "--version", 2, "--reason", "wait")
    assert paused == f"{instance_id}  paused  version 3\n"
    assert "wait" in signet("list", actor=None)
    assert "is at version 3, not 2" in signet("resume", instance_id, "--version", 2, exit_code=1)
    assert "running  version 4" in signet("resume", instance_id, "--version", 3)
    assert "running  version 4" in signet("wake", instance_id)
    assert signet("rebuild", instance_id) == "its row was right\n"
    admin.execute("UPDATE workflow_instances SET reason = 'x'")
    assert signet("rebuild", instance_id) == "its row differed from its steps\n"
    assert "failed  version 5" in signet("fail", instance_id, "--version", 4, "--reason", "twice")
    noted = read(
        admin,
        "SELECT DISTINCT content::jsonb ->> 'via', split_part(actor_id, '@', 1),"
        " content::jsonb -> 'detail' ->> 'claimed' FROM audit_log WHERE subject_type = 'instance'",
    )
    with company.database.transaction(company.tenant_id) as connection:
        ((user,),) = connection.execute("SELECT session_user::text").fetchall()
    assert noted == [("cli", f"cli:{user}", "olga")]


def test_a_document_without_a_workflow_is_restarted(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    publish_lanes(company)
    made = submit(company, worker)
    instance_id, document_id = instance_of(made), made.document_id
    seen, why = ("--version", version_of(admin, instance_id)), ("--reason", "the check was forgotten")
    assert "say what follows" in signet("cancel", instance_id, *seen, *why, exit_code=1)
    assert "cancelled" in signet("cancel", instance_id, *seen, *why, "--then", "leave")
    [incident] = json.loads(signet("explain", instance_id, "--json", actor=None))["incidents"]
    assert [act["name"] for act in incident["acts"]] == ["restart", "correct"]
    report = signet("restart", document_id, *why, "--dry-run")
    assert "would be held" not in report
    assert f"{document_id}  safe  at sys:state:submitted  under own version 1" in report
    assert signet("restart", document_id, *why, exit_code=2)
    blocked = signet(
        "restart", document_id, *why, "--dry-run", "--to", 1, "--name", "invoice", "--json", exit_code=1
    )
    assert json.loads(blocked)["outcome"] == "blocked"
    assert "restarted  instance " in signet("restart", document_id, *why, "--version", 2)
    assert "has a workflow already" in signet("restart", document_id, *why, "--version", 2, exit_code=1)


def test_what_is_held_is_corrected(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    publish_lanes(company, ledger_entry="{entity.cost_center}")
    made = submit(company, worker, grand_total=49900, cost_center=None)
    why = ("--reason", "it was left out", "--version", 3)
    assert "no JSON object" in signet("correct", made.document_id, *why, "--patch", "[]", exit_code=1)
    patch = ("--patch", '{"cost_center": "K-1"}')
    assert "version 4  at " in signet("correct", made.document_id, *why, *patch, "--dry-run")
    assert "active  version 4  at " in signet("correct", made.document_id, *why, *patch)
    editors = (
        "SELECT 'olga' = ANY (s.persons) FROM documents d JOIN responsible_sets s"
        " ON (s.tenant_id, s.hash) = (d.tenant_id, d.editor_responsible) WHERE d.id = %s"
    )
    # What a command line claims gives no right, and bars from voting as an edit does.
    assert read(admin, editors, made.document_id) == [(True,)]
    drain(worker, [company.tenant_id])
    assert stand_of(admin, instance_of(made))[0] == "completed"


def test_people_are_asked_again(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    approval = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "user", "user": "olga"}]}}
    publish_patch(company, {"submitted_to_approved": {"nodes": [approval]}})
    instance_id = instance_of(submit(company, worker))
    node, seen = "usr:submitted_to_approved:ask", ("--version", version_of(admin, instance_id))
    said = signet("ask-again", instance_id, node, *seen, "--reason", "they were away")
    assert f"{instance_id}  running  version " in said
    drain(worker, [company.tenant_id])
    asked = "SELECT status FROM approval_requests ORDER BY id"
    assert read(admin, asked) == [("voided",), ("open",)]


def test_one_that_is_not_wanted_is_cancelled(company: Company, worker: Worker, signet: Signet) -> None:
    instance_id = instance_of(create(company, worker))
    said = signet("cancel", instance_id, "--version", 2, "--reason", "ordered twice")
    assert said == f"{instance_id}  cancelled  version 3\n  the next request begins a new instance\n"
    assert "is cancelled already" in signet(
        "cancel", instance_id, "--version", 3, "--reason", "again", exit_code=1
    )


def test_one_branch_is_stopped_or_not_waited_for(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    publish_lanes(company)
    first, second = (instance_of(submit(company, worker, number=f"R-{each}")) for each in (1, 2))
    check, why = "usr:submitted_to_approved:check", ["--reason", "the bureau is closed"]
    seen = ["--version", version_of(admin, first)]
    payload = ["--payload", '{"points": 9}']
    assert "is not kept: the node saves nothing" in signet(
        "advance", first, check, *seen, *why, *payload, exit_code=1
    )
    assert "the payload is no JSON" in signet(
        "advance", first, check, *seen, *why, "--payload", "{", exit_code=1
    )
    assert f"{first}  running  version " in signet("advance", first, check, *seen, *why)
    assert "has no such token" in signet("cancel-token", second, "T/9", *seen, *why, exit_code=1)
    assert f"{second}  running  version " in signet("cancel-token", second, "T", *seen, *why)
    drain(worker, [company.tenant_id])
    assert [stand_of(admin, each)[0] for each in (first, second)] == ["completed", "running"]


def test_what_the_engine_paused_is_retried(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    made, _ = bury(company, worker, admin)
    instance_id, why = instance_of(made), ["--reason", "there is a rule now"]
    assert f"{instance_id}  running  version 4\n" == signet("retry", instance_id, "--version", 3, *why)
    assert "only a paused one can be retried" in signet(
        "retry", instance_id, "--version", 4, *why, exit_code=1
    )


def test_dead_triggers_are_tried_again(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    made, trigger_id = bury(company, worker, admin)
    # An id that names no moment at all: no row can have it.
    other = UUID("ffffffff-ffff-4fff-8fff-ffffffffffff")
    said = signet("requeue", trigger_id, other, exit_code=1)
    assert said.splitlines() == [
        f"{trigger_id}  requeued",
        f"{other}  is no dead trigger",
        f"{made.instance_id}  resumed",
    ]
    drain(worker, [company.tenant_id])
    assert stand_of(admin, instance_of(made))[0] == "paused"
    assert signet("requeue", trigger_id).count("\n") == 2


def test_what_is_stuck_is_exit_code_1(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    instance_id = instance_of(create(company, worker))
    assert signet("stuck", actor=None) == "nothing is stuck\n"
    admin.execute(
        "UPDATE workflow_instances SET updated_at = now() - interval '1 hour',"
        " active_tokens = jsonb_set(active_tokens, '{0,state}', '\"ready\"')"
    )
    said = signet("stuck", actor=None, exit_code=1)
    assert f"{instance_id}  ready  since " in said and "try: wake, rebuild, fail" in said
    assert signet("stuck", "--idle-seconds", 7200, actor=None) == "nothing is stuck\n"
    (stuck,) = json.loads(signet("stuck", "--json", actor=None, exit_code=1))
    assert (stuck["why"], stuck["remedies"]) == ("ready", ["wake", "rebuild", "fail"])


def test_it_is_moved_when_it_can_be(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    """Report movable and refused instances in a dry run."""
    instance_id = instance_of(create(company, worker))
    publish_patch(company, NOTING)
    well = ["--to", 1, "--name", "own"]
    said = signet("move", instance_id, *well, "--dry-run")
    assert said == f"{instance_id}  safe  version 2\n  T at sys:state:draft: safe\n"
    assert "name the version that you saw" in signet("move", instance_id, *well, exit_code=2)
    assert "is at version 2, not 1" in signet("move", instance_id, *well, "--version", 1, exit_code=1)
    assert "no published version 9" in signet("move", instance_id, "--to", 9, "--dry-run", exit_code=1)
    said = signet("move", instance_id, *well, "--version", 2, "--reason", "why")
    assert said.startswith(f"{instance_id}  moved  version 3\n")
    said = signet("move", instance_id, *well, "--version", 3, exit_code=1)
    assert "  DEFINITION_NOT_NEWER: 'own' version 1 is not newer than" in said
    (found,) = json.loads(signet("move", instance_id, *well, "--dry-run", "--json", exit_code=1))
    assert (found["id"], found["outcome"], found["version"]) == (str(instance_id), "blocked", 3)
    assert found["report"]["verdict"] == "blocked" and found["error"] is None


def test_many_are_moved(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    instance_ids = [instance_of(create(company, worker, number=f"R-{number}")) for number in range(3)]
    assert signet("pause", instance_ids[0], "--version", 2, "--reason", "wait")
    publish_patch(company, NOTING)
    all_of_them = ["move-all", "invoice", "own", "--to", 1]
    lines = signet(*all_of_them, "--dry-run").splitlines()
    assert [line.split()[1] for line in lines if not line.startswith("  ")] == ["safe"] * 4
    assert lines[-1] == "3 safe"
    said = signet(*all_of_them, "--limit", 2)
    assert f"there may be more: go on with --after {instance_ids[1]}" in said and "2 moved" in said
    assert "moved" in signet(*all_of_them, "--after", instance_ids[1])
    assert signet(*all_of_them) == "nothing to move\n"
    admin.execute(
        "INSERT INTO tenant_quotas VALUES (%s, 'workflow:move', 1, 3600, now())", [company.tenant_id]
    )
    publish_patch(company, NOTING)
    said = signet("move-all", "invoice", "own", "--to", 2, exit_code=1)
    assert "  QUOTA_EXCEEDED: the tenant has used up 'workflow:move'" in said
    found = json.loads(signet("move-all", "invoice", "own", "--to", 2, "--json", exit_code=1))
    assert {one["outcome"] for one in found} <= {"refused", "moved"}
    assert found[-1]["error"]["code"] == "QUOTA_EXCEEDED"


def test_a_claim_gives_no_right_and_takes_none(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    """Act as the database's user, for a clerk and for a name that the tenant does not know."""
    instance_id = instance_of(create(company, worker))
    for claimed in ("carl", "eve"):
        signet("wake", instance_id, actor=claimed)
    assert "no name of a person" in signet("wake", instance_id, actor=" ", exit_code=1)
    noted = "SELECT actor_id, content::jsonb -> 'detail' ->> 'claimed' FROM audit_log WHERE seq > 0"
    acts = read(admin, f"{noted} AND subject_type = 'instance' ORDER BY seq")
    assert [claimed for _, claimed in acts] == ["carl", "eve"]
    assert all(actor.startswith("cli:") for actor, _ in acts)


def test_a_claim_bars_as_the_person_would_be(
    company: Company, worker: Worker, signet: Signet, admin: Admin
) -> None:
    publish_lanes(company)
    instance_id = instance_of(submit(company, worker, number="R-1"))
    ended = [
        "advance",
        instance_id,
        "usr:submitted_to_approved:check",
        "--version",
        version_of(admin, instance_id),
    ]
    said = signet(*ended, "--reason", "why", actor="carl", exit_code=1)
    assert "carl is responsible as creator of this document and may not decide about it" in said
    assert "running" in signet(*ended, "--reason", "why", actor="olga")


def test_no_answer_is_exit_code_2(signet: Signet) -> None:
    gone = "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=1"
    assert "does not answer" in signet("stuck", actor=None, exit_code=2, url=gone)


def test_the_page_runs_as_it_stands(
    company: Company, worker: Worker, signet: Signet, owner_url: str, admin: Admin
) -> None:
    """Run the page's commands in order, on one invoice that waits in draft."""
    made = create(company, worker)
    known = {
        "$TENANT": str(company.tenant_id),
        "$INSTANCE": str(made.instance_id),
        "$DOCUMENT": str(made.document_id),
        "$ACTOR": "olga",
    }
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("signet instance")]
    assert len(commands) == 14
    publish_patch(company, NOTING)
    for command in commands:
        words = [known.get(word, word) for word in shlex.split(command, comments=True)]
        assert words[:2] == ["signet", "instance"]
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        result = CliRunner().invoke(app, words[1:], env=environment)
        assert result.exit_code == 0, f"{command}: {result.output}"
    assert version_of(admin, instance_of(made)) == 6
