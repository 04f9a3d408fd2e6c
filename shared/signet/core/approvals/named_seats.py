"""Ways to fill the seats of people who are asked by name: acts of the tenant, each in a sentence."""

from collections.abc import Collection, Iterable, Iterator

from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.policy import Stage
from signet.core.approvals.seats.assignment import UnseatedApprover, UnseatedReason
from signet.core.compiler.node_configurations import ByExpression


def list_named_remedies(check: VoteCheck, rejecters: Collection[str]) -> list[str]:
    """List what lets holders of open seats decide who are named; some of them rejected the same content."""
    remedies = []
    for seat in check.seats:
        person, role = seat.holder_user_id, seat.needed_role
        if seat.status != "open" or person is None:
            continue
        if person not in check.roles:
            remedies.append(
                f"Make {person} an active member. To give their seat to another, disable them again with"
                " hand_over_to"
            )
        elif role is not None and role not in check.roles[person]:
            remedies.append(f"Give {person} the role {role}")
        if person in rejecters:
            remedies.append(
                f"Or edit the document: {person} rejected this content, and is asked again as long as it is"
                " unchanged. Other content is asked of everybody that the policy names"
            )
    return list(dict.fromkeys(remedies))


def list_gap_remedies(stage: Stage, missing: Iterable[UnseatedApprover]) -> list[str]:
    """List what lets approvers have a seat who gave none."""
    return list(dict.fromkeys(_describe_gaps(stage, missing)))


def _describe_gaps(stage: Stage, missing: Iterable[UnseatedApprover]) -> Iterator[str]:
    for unseated in missing:
        match unseated.gap:
            case UnseatedReason.NO_MANAGER:
                yield f"Set the manager of {unseated.who} (PUT /v1/org_chart), or of the manager above them"
            case UnseatedReason.NOT_A_USER:
                yield f"Correct {unseated.who}: it must name a member"
            case UnseatedReason.NOT_OF_ROLE:
                approver = stage.approvers[unseated.approver]
                if isinstance(approver, ByExpression):
                    yield f"Give {unseated.who} the role {approver.who}, or correct {approver.expression}"
            case _:
                continue
