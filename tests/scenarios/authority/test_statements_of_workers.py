"""Statements of a worker that was taken over: they put a token or a seat where the engine would not."""

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.instances.explain import explain
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import submit, vote
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.ways.statements import begin_again
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

DUTIES = "SEPARATION_OF_DUTIES"
RELEASE = {"from": ["submitted"], "to": "active", "kind": "requested"}
POST = {"id": "post", "type": "action", "config": {"action": "post"}}
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")] * 2, "quorum": "all"}}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def ask(stage: WorkflowStage) -> Made:
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}))
    submit(stage, document, "carl")
    return document


def execute(stage: WorkflowStage, *statements: str) -> None:
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        for statement in statements:
            connection.execute(statement.encode())


def test_a_token_that_was_put_before_the_gate_passes_nothing(stage: WorkflowStage) -> None:
    document = ask(stage)
    execute(
        stage,
        "UPDATE workflow_step_executions SET status = 'completed', completed_at = now(), duration_ms = 1,"
        " end_seq = (SELECT max(seq) + 1 FROM workflow_step_executions),"
        ' output_json = \'{"outcome": "approved"}\''
        " WHERE node_id = 'usr:approval:look'",
        "UPDATE workflow_instances SET current_nodes = '{sys:gate:approve}',"
        " active_tokens = jsonb_set("
        "jsonb_set(active_tokens, '{0,node}', '\"sys:gate:approve\"'), '{0,state}', '\"ready\"')",
    )
    stage.wake(document.instance_id)
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"].split(":")[0]) == ("paused", "APPROVAL_UNPROVEN")
    assert stage.status_of(document.id) == "submitted"
    # The engine's own way passes it.
    lawful = ask(stage)
    assert [vote(stage, lawful.id, person) for person in ("app1", "app2")] == ["open", "approved"]
    assert stage.status_of(lawful.id) == "active"


TENANT: LiteralString = "SELECT set_config('signet.tenant_id', %s, true)"
STEP: LiteralString = (
    "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, end_seq, node_id,"
    " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at, actor_user_id,"
    " output_json)"
    " SELECT i.tenant_id, now(), gen_random_uuid(), i.id, 900, 900, %(node)s, 'control', '', 1, 1,"
    " 'completed', sha256(i.id::text::bytea || %(node)s::text::bytea), now(), 'eve',"
    " json_build_object('to', json_build_object('id', d.id, 'version', d.version, 'contract_version', 1))"
    " FROM workflow_instances i JOIN workflow_definitions d ON d.tenant_id = i.tenant_id"
    " AND d.entity_type = i.entity_type AND d.definition_kind = 'envelope' WHERE i.id = %(instance)s"
)
TAKEN: LiteralString = (
    "UPDATE workflow_instances i SET definition_id = d.id, definition_version = d.version"
    " FROM workflow_definitions d WHERE d.tenant_id = i.tenant_id AND d.entity_type = i.entity_type"
    " AND d.definition_kind = 'envelope' AND i.id = %(instance)s"
)


@pytest.mark.parametrize("database_role", ["signet_worker", "signet_janitor"])
def test_only_an_operator_moves_an_instance(stage: WorkflowStage, database_role: str) -> None:
    """Moved to the bare envelope, the document would be active without a vote."""
    document = ask(stage)
    named = {"instance": document.instance_id, "node": "sys:control:moved"}
    url = as_role(stage.standing.admin_url, database_role)
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(TENANT, [str(stage.tenant_id)])
        connection.execute(STEP, named)
    assert refused.value.sqlstate == "SG002"
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(TENANT, [str(stage.tenant_id)])
        connection.execute(TAKEN, named)
    assert refused.value.sqlstate == ("SG003" if database_role == "signet_worker" else "42501")
    # The trail and the waves write other steps of this kind.
    with psycopg.connect(url) as connection:
        connection.execute(TENANT, [str(stage.tenant_id)])
        connection.execute(STEP, {**named, "node": "sys:control:failed"})
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "submitted"


@pytest.mark.parametrize("database_role", ["signet_worker", "signet_janitor"])
@pytest.mark.parametrize("birth", ["restarted", "reentered", "created", "amended"])
def test_no_worker_begins_a_document_again(stage: WorkflowStage, database_role: str, birth: str) -> None:
    """Under the bare envelope, and with a token at the gate, the document would be active without a vote."""
    document = ask(stage)
    url = as_role(stage.standing.admin_url, database_role)
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as refused:
        connection.execute(TENANT, [str(stage.tenant_id)])
        connection.execute(begin_again(birth).encode(), {"document": document.id})
    assert refused.value.sqlstate == ("SG002" if database_role == "signet_worker" else "42501")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({}, "step 900 says that eve moved it, and not from which definition"),
        ({"from": {"id": "nonsense"}}, "step 900 says that eve moved it"),
        (None, "its token is at usr:approval:look, and its definition has no such node"),
    ],
)
def test_an_explanation_says_that_a_forged_move_does_not_fit(
    stage: WorkflowStage, output: dict[str, Any] | None, said: str
) -> None:
    """Such rows are written by the owner of the database alone."""
    document = ask(stage)
    named = {"instance": document.instance_id, "node": "sys:control:moved"}
    left = (
        "(SELECT json_build_object('id', definition_id, 'version', definition_version)"
        " FROM workflow_instances WHERE id = instance_id)"
    )
    with psycopg.connect(stage.standing.admin_url) as connection:
        connection.execute(STEP, named)
        connection.execute(TAKEN, named)
        connection.execute("SET session_replication_role = replica")
        if output is None:
            forged = f"jsonb_set(output_json, '{{from}}', to_jsonb({left}))"
            connection.execute(
                f"UPDATE workflow_step_executions SET output_json = {forged} WHERE seq = 900".encode()
            )
        else:
            more = Jsonb(output)
            connection.execute(
                "UPDATE workflow_step_executions SET output_json = output_json || %s WHERE seq = 900", (more,)
            )
    database, contracts = stage.standing.company.database, stage.caches().contracts
    with pytest.raises(Rejected, match=said) as refused:
        explain(database, contracts, stage.tenant_id, document.instance_id)
    assert refused.value.code == "INSTANCE_STEPS_DO_NOT_FIT"
    assert explain(database, contracts, stage.tenant_id, ask(stage).instance_id).status == "running"


def test_the_worker_asks_in_nobodys_name(stage: WorkflowStage) -> None:
    """A transition that decides would be performed as the person that the row names."""
    transitions = {**CONTRACT["transitions"], "approve": RELEASE}
    contract = {**CONTRACT, "transitions": transitions, "separation_of_duties": {"deciding": ["approve"]}}
    document = stage.create(stage.publish(contract), "carl")
    submit(stage, document, "carl")
    with pytest.raises(Rejected, match="carl is responsible as creator"):
        stage.ask(document.id, "approve", "carl")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(
            stage,
            "INSERT INTO transition_requests (tenant_id, id, document_id, document_version, transition,"
            " actor_id, actor_roles, created_at)"
            " SELECT tenant_id, gen_random_uuid(), id, version, 'approve', 'app1', '{voter,admin}', now()"
            " FROM documents WHERE status = 'submitted'",
        )
    # The person themselves asks.
    stage.ask(document.id, "approve", "app1")
    stage.drain()
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize(
    ("status", "version", "refused"), [("active", 1, True), ("draft", 2, True), ("draft", 1, False)]
)
def test_a_document_of_a_step_begins_where_its_contract_says(
    stage: WorkflowStage, status: str, version: int, refused: bool
) -> None:
    """A step that makes documents writes such rows; an approved document is none of them."""
    document = ask(stage)
    statement = (
        "INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data,"
        " creator_id, created_at, updated_at)"
        " SELECT tenant_id, gen_random_uuid(), entity_type, contract_version,"
        f" '{status}', {version}, data, 'carl', now(), now() FROM documents WHERE id = '{document.id}'"
    )
    if refused:
        with pytest.raises(psycopg.Error, match="does not begin in the status"):
            execute(stage, statement)
    else:
        execute(stage, statement)


def test_an_operator_moves_it(stage: WorkflowStage) -> None:
    """The lawful way beside it: the new definition asks the same, and its approval counts."""
    entity_type = stage.publish(approval={"nodes": [LOOK]})
    document = stage.create(entity_type)
    stage.drain()
    version = stage.publish_next(entity_type, approval={"nodes": [LOOK]}, posting={"nodes": [POST]})
    company = stage.standing.company
    moves = InstanceMoves(company.database, stage.caches(), CompiledCache())
    seen = stage.instance(document.instance_id)["version"]
    moved = moves.move(company.caller("olga"), document.instance_id, seen, MoveTarget(version), "newer")
    assert moved.outcome == "moved", moved.report
    submit(stage, document, "carl")
    assert [vote(stage, document.id, person) for person in ("app1", "app2")] == ["open", "approved"]
    assert stage.status_of(document.id) == "active"


FORGED = "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, {column})"


@pytest.mark.parametrize(
    ("column", "value", "state"),
    [
        ("origin", "break_glass", "SG002"),
        ("handed_over_from", "app2", "42501"),
        ("decided_by", "app1", "42501"),
    ],
)
def test_the_worker_says_of_seats_only_who_is_asked(
    stage: WorkflowStage, column: str, value: str, state: str
) -> None:
    ask(stage)
    with pytest.raises(psycopg.Error) as refused:
        execute(
            stage,
            FORGED.format(column=column)
            + f" SELECT tenant_id, id, 1, 99, 'app1', '{value}' FROM approval_requests",
        )
    assert refused.value.sqlstate == state


def test_fewer_approvals_than_the_contract_requires_pass_nothing(stage: WorkflowStage) -> None:
    """Put the token behind the first of two required approvals: one person alone votes."""
    one = {"id": "one", "type": "approval", "config": {"approvers": [role("voter")]}}
    slot = {"transition": "approve", "requires": {"approvals": 2, "distinct": True}}
    contract = {**CONTRACT, "slots": {**CONTRACT["slots"], "approval": slot}}
    both = {"nodes": [one, {**one, "id": "two"}], "edges": [{"source": "one", "target": "two"}]}
    forged = stage.create(stage.publish(contract, approval=both))
    lawful = stage.create(stage.publish(contract, approval=both))
    submit(stage, lawful, "carl")
    assert [vote(stage, lawful.id, person) for person in ("app1", "app2")] == ["approved", "approved"]
    assert stage.status_of(lawful.id) == "active"
    submit(stage, forged, "carl")
    execute(
        stage,
        "UPDATE workflow_step_executions SET status = 'completed', completed_at = now(), duration_ms = 1,"
        ' end_seq = seq, output_json = \'{"outcome": "approved",'
        ' "chosen_edge_ids": ["usr:approval:edge:one>two#approved"]}\''
        f" WHERE node_id = 'usr:approval:one' AND instance_id = '{forged.instance_id}'",
        "UPDATE workflow_instances SET current_nodes = '{usr:approval:two}', active_tokens = jsonb_set("
        "jsonb_set(active_tokens, '{0,node}', '\"usr:approval:two\"'), '{0,state}', '\"ready\"')"
        f" WHERE id = '{forged.instance_id}'",
    )
    stage.wake(forged.instance_id)
    stage.drain()
    assert vote(stage, forged.id, "app1") == "approved"
    assert stage.status_of(forged.id) == "submitted"
    assert stage.instance(forged.instance_id)["reason"].startswith("APPROVAL_UNPROVEN")


def test_another_requester_in_the_row_of_the_instance_is_not_believed(stage: WorkflowStage) -> None:
    """Send the instance back, and name another requester before the wave asks again."""
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "mia")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "carl") == DUTIES
    company, row = stage.standing.company, stage.instance(document.instance_id)
    repairs = Repairs(company.database, stage.caches(), CompiledCache())
    back = "sys:slot:approval:in"
    repairs.go_to(company.caller("olga"), document.instance_id, row["version"], back, "look again")
    execute(
        stage,
        "INSERT INTO responsible_sets SELECT tenant_id, sha256('dave'), '{dave}' FROM tenants",
        "UPDATE workflow_instances SET request_id = gen_random_uuid(), actor_id = 'dave',"
        f" responsible = sha256('dave') WHERE id = '{document.instance_id}'",
    )
    stage.drain()
    assert vote(stage, document.id, "carl") == DUTIES
    assert [vote(stage, document.id, person) for person in ("app1", "app2")] == ["open", "approved"]
    assert stage.status_of(document.id) == "active"
