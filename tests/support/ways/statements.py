"""The way by SQL: statements of the worker's role that would take the bar away, or write the approval.

They end with their transaction, and the vote that they were for is tried after them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from uuid import UUID

import psycopg

from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.ways.cells import Cell, Played, Step
from tests.support.ways.involvements import DUTIES, GRANTED, NOT_ASKED, SAME
from tests.support.ways.scene import BOARD, FINANCE, NOT_REFUSED, AuthorityScene, Plan, approvers

# The states of SQL: no privilege, a row that cannot become another one, a version that is not there, a check.
NO_RIGHT, KEPT, LOST, CHECKED = "42501", "SG002", "SG004", "23514"
UNPROVEN = "APPROVAL_UNPROVEN"
# What is forged, as a sentence; its statement; the state that it ends in.
Forgery = tuple[str, str, str]
_DOCUMENT = " WHERE id = %(document)s"
_REQUEST = " WHERE id = %(request)s"


# Rows that the worker may write: seats of a request, and another request that asks the person alone.
SEAT = (
    "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id)"
    " SELECT tenant_id, id, 1, 90, %(person)s FROM approval_requests" + _REQUEST
)
ESCALATED_SEAT = (
    "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_role, origin)"
    " SELECT tenant_id, id, 1, 91, 'finance', 'escalated' FROM approval_requests" + _REQUEST
)
_COPIED = (
    "instance_id, node_id, document_id, document_version, snapshot_version_id, snapshot_hash,"
    " definition_hash, policy, policy_hash, requester_id, responsible, voter_permissions, pins, pins_hash,"
    " created_at"
)
REQUEST = (
    f"WITH forged AS (INSERT INTO approval_requests (tenant_id, id, step_execution_id, {_COPIED})"
    f" SELECT tenant_id, %(forged)s, gen_random_uuid(), {_COPIED} FROM approval_requests{_REQUEST}"
    " RETURNING tenant_id, id)"
    " INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id)"
    " SELECT tenant_id, id, 1, 1, %(person)s FROM forged"
)


def _write(**columns: str) -> str:
    """Return a call of the function by which edits are written, with these columns and no evidence."""
    kept = {
        "id": "id",
        "status": "status",
        "seen_version": "version",
        "version": "version + 1",
        "data": "data",
        "editor_ids": "editor_ids",
        "is_deleted": "false",
    }
    row = ", ".join(f"'{name}', {value}" for name, value in {**kept, **columns}.items())
    rows = f"(SELECT json_agg(json_build_object({row})) FROM documents{_DOCUMENT})"
    return f"SELECT write_edits(ARRAY(SELECT id FROM documents{_DOCUMENT}), {rows}, '[]', '[]', '[]', now())"


def begin_again(birth: str) -> str:
    """Return a statement that begins an instance of the document at its gate, under the bare envelope."""
    token = (
        "json_build_object('id', 'T', 'node', 'sys:gate:approve', 'state', 'ready',"
        " 'version', i.entity_version)"
    )
    return (
        "INSERT INTO workflow_instances (tenant_id, id, kind, definition_id, definition_version, entity_type,"
        " entity_id, subject_id, begin_node, begin_version, entity_version, birth, active_tokens, started_at,"
        " updated_at) SELECT i.tenant_id, gen_random_uuid(), i.kind, d.id, d.version, i.entity_type,"
        " i.entity_id, i.subject_id, 'sys:gate:approve', i.entity_version, i.entity_version,"
        f" '{birth}', jsonb_build_array({token}), now(), now()"
        " FROM workflow_instances i JOIN workflow_definitions d ON d.tenant_id = i.tenant_id"
        " AND d.entity_type = i.entity_type AND d.definition_kind = 'envelope'"
        " WHERE i.entity_id = %(document)s"
    )


FORGERIES: Mapping[str, Sequence[Forgery]] = {
    "creator": (
        ("writes another creator", "UPDATE documents SET creator_id = 'eve'" + _DOCUMENT, NO_RIGHT),
        (
            "takes the persons behind the creation away",
            "UPDATE documents SET creator_responsible = NULL" + _DOCUMENT,
            NO_RIGHT,
        ),
        ("writes the status", "UPDATE documents SET status = 'active'" + _DOCUMENT, NO_RIGHT),
        ("writes the status as the version has it", _write(status="'active'", version="version"), KEPT),
        ("writes the status without evidence", _write(status="'active'"), KEPT),
        (
            "writes another document that is approved already",
            "INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data,"
            " creator_id, created_at, updated_at) SELECT tenant_id, gen_random_uuid(), entity_type,"
            " contract_version, 'active', 1, data, 'eve', now(), now() FROM documents" + _DOCUMENT,
            KEPT,
        ),
    ),
    "editor": (
        (
            "rewrites the version that they wrote",
            "UPDATE document_versions SET actor_id = 'eve' WHERE document_id = %(document)s",
            NO_RIGHT,
        ),
        (
            "takes themselves out of the editors",
            "UPDATE documents SET editor_ids = '{}'" + _DOCUMENT,
            NO_RIGHT,
        ),
        (
            "writes another set of editors",
            "UPDATE documents SET editor_responsible = creator_responsible" + _DOCUMENT,
            NO_RIGHT,
        ),
        ("has an edit written without editors", _write(editor_ids="ARRAY[]::text[]"), KEPT),
    ),
    "requester": (
        (
            "writes another requester of the approval",
            "UPDATE approval_requests SET requester_id = 'eve'" + _REQUEST,
            NO_RIGHT,
        ),
        (
            "writes another requester of the transition",
            "UPDATE transition_requests SET actor_id = 'eve' WHERE document_id = %(document)s",
            NO_RIGHT,
        ),
        (
            "asks for a transition in the name of another person",
            "INSERT INTO transition_requests (tenant_id, id, document_id, document_version, transition,"
            " actor_id, created_at) SELECT tenant_id, gen_random_uuid(), id, version, 'approve', 'eve', now()"
            " FROM documents" + _DOCUMENT,
            NO_RIGHT,
        ),
    ),
    "key owner": (
        ("deletes the owners of the key", "DELETE FROM api_key_owners", NO_RIGHT),
        (
            "writes a set of persons without themselves",
            "INSERT INTO responsible_sets SELECT tenant_id, creator_responsible, '{eve}' FROM documents"
            + _DOCUMENT,
            CHECKED,
        ),
    ),
    "rule author": (
        ("writes another author of the rule", "UPDATE rules SET responsible = NULL", NO_RIGHT),
        (
            "rewrites the evidence that the rule has set something",
            "DELETE FROM rule_executions WHERE document_id = %(document)s",
            NO_RIGHT,
        ),
    ),
    "reference editor": (
        ("takes the pinned fields away", "UPDATE approval_requests SET pins = '{}'" + _REQUEST, NO_RIGHT),
        (
            "writes that an older version of the other document changed the field",
            "UPDATE documents SET field_versions = field_versions || '{\"number\": 1}'"
            " WHERE id = (SELECT (data ->> 'vendor')::uuid FROM documents" + _DOCUMENT + ")",
            NO_RIGHT,
        ),
        ("has a field written as older than it is", _write(field_versions="'{\"amount\": 1}'::json"), LOST),
    ),
    "delegator": (
        ("deletes the vote of their delegate", "DELETE FROM approval_decisions", NO_RIGHT),
        (
            "writes their name out of the seat",
            "UPDATE approval_seats SET on_behalf_of = NULL",
            NO_RIGHT,
        ),
        (
            "writes a second vote of another person",
            "INSERT INTO approval_decisions SELECT tenant_id, gen_random_uuid(), id, 1, 1, 'approved', NULL,"
            " 'eve', NULL, NULL, document_version, snapshot_hash, definition_hash, policy_hash, NULL, now()"
            " FROM approval_requests" + _REQUEST,
            NO_RIGHT,
        ),
    ),
    "granter": (
        ("deletes the record of what they took", "DELETE FROM eligibility_changes", NO_RIGHT),
        (
            "has the approval asked for after it",
            "UPDATE approval_requests SET created_at = now() + interval '1 hour'" + _REQUEST,
            NO_RIGHT,
        ),
        (
            "gives the role by itself",
            "INSERT INTO member_roles (tenant_id, user_id, role) SELECT tenant_id, 'eve', 'finance'"
            " FROM documents" + _DOCUMENT,
            NO_RIGHT,
        ),
    ),
    "operator": (
        (
            "writes the request approved",
            "UPDATE approval_requests SET status = 'approved', applied = false, ended_at = now()" + _REQUEST,
            NO_RIGHT,
        ),
        (
            "writes that an operator moved it to a definition that asks nobody",
            "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, end_seq,"
            " node_id, node_type, token_id, entity_version, version_after, status, idempotency_key,"
            " started_at,"
            " actor_user_id) SELECT tenant_id, now(), gen_random_uuid(), id, 900, 900, 'sys:control:moved',"
            " 'control', '', 1, 1, 'completed', sha256('moved'), now(), 'eve' FROM workflow_instances"
            " WHERE entity_id = %(document)s",
            KEPT,
        ),
        ("has the document restarted before its gate", begin_again("restarted"), KEPT),
        ("has a request begin it before its gate", begin_again("reentered"), KEPT),
        ("has the document begun a second time before its gate", begin_again("created"), KEPT),
        (
            "writes the seat approved",
            "UPDATE approval_seats SET status = 'approved', decided_by = 'eve', decided_at = now()"
            " WHERE request_id = %(request)s",
            NO_RIGHT,
        ),
    ),
}


def forge(forgeries: Sequence[Forgery], scene: AuthorityScene) -> Iterator[str]:
    """Try each statement as the worker, and then vote."""
    scene.submit()
    for _, statement, _ in forgeries:
        yield _execute(scene, statement)
    yield scene.vote(scene.command_line if _is_operator(scene) else scene.person)


def seat_oneself(scene: AuthorityScene) -> Iterator[str]:
    """Try the statements of an operator; then be seated, and asked, by rows that the worker may write."""
    yield from forge(FORGERIES["operator"], scene)
    wider = {"after": "P3D", "to": role(FINANCE)}
    scene.submit(Plan(approval=approvers(role(BOARD), escalate=wider)))
    for statement in (SEAT, ESCALATED_SEAT):
        _write_past_the_workflow(scene, statement)
        yield scene.vote(scene.person)
    forged = UUID(int=1 + scene.number)
    _write_past_the_workflow(scene, REQUEST, forged)
    yield scene.vote(scene.person, about=forged)


def _write_past_the_workflow(scene: AuthorityScene, statement: str, forged: UUID | None = None) -> None:
    """Write rows as the worker, and keep them."""
    named = {"request": scene.newest(), "person": scene.person, "forged": forged}
    with psycopg.connect(as_role(scene.stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(scene.tenant_id),))
        connection.execute(statement.encode(), named)


def _execute(scene: AuthorityScene, statement: str) -> str:
    named = {"document": scene.made.id, "request": scene.newest()}
    with psycopg.connect(as_role(scene.stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(scene.tenant_id),))
        try:
            connection.execute(statement.encode(), named)
            # What is checked at the commit is checked now.
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as refused:
            return refused.sqlstate or ""
        finally:
            connection.rollback()
    return NOT_REFUSED


def _is_operator(scene: AuthorityScene) -> bool:
    return scene.involvement.bar == NOT_ASKED


def forging(person: str, last: Step) -> Played:
    forgeries = FORGERIES[person]
    steps = tuple((does, state) for does, _, state in forgeries)
    return Played(partial(forge, forgeries), (*steps, last))


def seating(last: Step) -> Played:
    forged = forging("operator", last)
    steps = (
        ("has a seat of their own added, and votes", UNPROVEN),
        ("has a seat of the wider circle added before it is due, and votes", UNPROVEN),
        ("has a request added that asks them, and votes", UNPROVEN),
    )
    return Played(seat_oneself, (*forged.steps, *steps))


BARS = {"delegator": SAME, "granter": GRANTED, "operator": NOT_ASKED}
SQL_AS_WORKER: Mapping[str, Cell] = {
    **{person: forging(person, ("votes after that", BARS.get(person, DUTIES))) for person in FORGERIES},
    "operator": seating(("votes after that", NOT_ASKED)),
}
