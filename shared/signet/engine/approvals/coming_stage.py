"""Stages that have not begun: who would be asked, as far as can be told without taking a turn or a lock."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from signet.core.approvals.eligibility import Seat, find_people_behind
from signet.core.approvals.entitlement import VoteCheck, list_voter_permissions
from signet.core.approvals.pins import Pins, list_pinned_fields, read_pinned
from signet.core.approvals.policy import Policy, Stage, list_asked_roles, parse_policy
from signet.core.approvals.seats.assignment import (
    ApproverData,
    SeatAssignment,
    list_needs,
    seat_stage,
)
from signet.core.approvals.seats.bench import find_bench
from signet.core.approvals.seats.rejecters import ask_rejecters_again
from signet.core.approvals.votes import (
    NextAction,
    count_votes,
    has_escalated,
    list_approved_stages,
    next_action,
)
from signet.core.compiler.node_configurations import Approver, ByRole
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.expressions import Environment
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.approvals.approver_lookup import (
    evaluate_texts,
    list_people_of,
    read_managers_of,
    read_roles_of,
)
from signet.engine.approvals.rejecters import read_rejecter_standing
from signet.engine.approvals.vote_reader import ReadRequest, VoteReader
from signet.engine.documents.references import RefQuery, Refs
from signet.store.approvals.requests import find_first_asked
from signet.store.approvals.voters import VotedDocumentRow
from signet.store.tenants.eligibility import read_eligibility_changes


@dataclass(frozen=True, slots=True)
class UnopenedApproval:
    """An approval node that has asked nobody yet, with all that its request would be judged by."""

    node: WorkflowNode
    policy: Policy
    document: VotedDocumentRow
    contract: CompiledContract
    pins: Pins
    requesters: ResponsiblePersons
    # Those whose approval the same gate uses already.
    approved_elsewhere: frozenset[str]
    # The seats of the request that was rejected before, if there is one.
    rejected_seats: Sequence[Seat]


def find_next_stage(found: ReadRequest) -> int | None:
    """Return the stage that follows a stage that is approved, where one does."""
    request = found.request
    policy = parse_policy(request.policy, request.policy_hash)
    seats = [seat for seat in found.seats if seat.stage == request.stage]
    following = next_action(
        policy,
        request.stage,
        count_votes(policy.stage(request.stage), seats),
        escalated=has_escalated(seats),
        approved=list_approved_stages(policy, found.seats),
    )
    return following.stage if following.act is NextAction.BEGIN_STAGE else None


def seat_coming_stage(reader: VoteReader, number: int, stage: Stage, env: Environment) -> SeatAssignment:
    """Make the seats that the stage would have. A role that takes turns is asked as a whole."""
    approvers = tuple(map(_ask_all, stage.approvers))
    needs = list_needs(approvers)
    values = evaluate_texts(needs, env)
    managers, owners = read_managers_of(reader.connection, reader.tenant_id, values, needs)
    asked = stage.model_copy(update={"approvers": approvers})
    roles = read_roles_of(reader.connection, reader.tenant_id, list_people_of(values, needs))
    return seat_stage(number, asked, ApproverData(values, managers, roles=roles, owners=owners))


def read_pins(
    reader: VoteReader, workflow: Workflow, document: VotedDocumentRow, contract: CompiledContract
) -> Pins:
    """Read what a request would pin of other documents, apart from what rules read."""
    followed = list_pinned_fields(workflow, contract, contract.refs_of_conditions)
    if not followed:
        return {}
    data = reader.content_of(document).data
    return Refs(reader.connection, reader.tenant_id, {}).pins_of(RefQuery(contract, followed, data))


def make_unopened_check(
    reader: VoteReader, workflow: Workflow, approval: UnopenedApproval, env: Environment
) -> tuple[VoteCheck, SeatAssignment]:
    """Make the check of votes on the first stage, and its seats. The people in it are still to be read."""
    stage = approval.policy.stage(1)
    assignment = seat_coming_stage(reader, 1, stage, {**env, "refs": read_pinned(approval.pins)})
    behind = find_people_behind(approval.document, approval.requesters, approval.pins).everyone
    standing = read_rejecter_standing(
        reader.connection,
        reader.tenant_id,
        approval.document.id,
        assignment.seats,
        approval.rejected_seats,
        approved_elsewhere=approval.approved_elsewhere,
        behind=behind,
    )
    check = VoteCheck(
        contract=approval.contract,
        document=approval.document,
        requesters=approval.requesters,
        asked_since=reader.now,
        pins=approval.pins,
        needed_permissions=list_voter_permissions(workflow, approval.node.id, approval.policy),
        approved_elsewhere=approval.approved_elsewhere,
        stage=stage,
        seats=ask_rejecters_again(stage, assignment.seats, approval.rejected_seats, standing),
        now=reader.now,
        make_env=reader.make_voter_env(approval.document),
    )
    return check, assignment


def add_changes(reader: VoteReader, document: VotedDocumentRow, check: VoteCheck) -> VoteCheck:
    """Add what may bar votes on a stage that is to begin, where people were asked about it before."""
    since = find_first_asked(reader.connection, document.id)
    if since is None:
        return check
    return read_changes(reader, replace(check, asked_since=since), check.roles)


def read_changes(reader: VoteReader, check: VoteCheck, members: Mapping[str, Collection[str]]) -> VoteCheck:
    """Return the check with the changes that may bar votes of these members, with their roles."""
    asked_roles = list_asked_roles(check.stage, check.seats)
    bench = find_bench(check.contract, check.needed_permissions, check.seats, asked_roles)
    own_roles = {role for roles in members.values() for role in roles}
    changes = read_eligibility_changes(
        reader.connection,
        reader.tenant_id,
        since=check.asked_since,
        user_ids={*bench.holder_ids, *members},
        roles=asked_roles | own_roles,
        concerned=check.find_people_behind().everyone.union(members),
        bench=bench,
    )
    return replace(check, changes=changes)


def _ask_all(approver: Approver) -> Approver:
    return (
        approver.model_copy(update={"pick": "first_available"}) if isinstance(approver, ByRole) else approver
    )
