"""The policy that a request is pinned to: the approvers of each stage, and what counts as their answer.

An approval node with approvers of its own is a policy of one stage; a chain has up to twenty. The request
keeps the policy as canonical text with its hash, so that it cannot change while people decide.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field as Constraint
from pydantic import model_validator

from signet.core.approvals.eligibility import Seat
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.compiler.authority_checks import check_seat
from signet.core.compiler.node_configurations import (
    MAX_APPROVERS,
    Approver,
    ByExpression,
    ByManager,
    ByRole,
    Deadline,
    Escalation,
    Quorum,
    ReasonedVotes,
    Remind,
    SamePerson,
    VoterPermission,
    require_reachable_quorum,
)
from signet.core.contracts.expression_scope import make_scope
from signet.core.errors import Defect
from signet.core.expressions import ANY, ExpressionError, TypeKind, check, parse_expression
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import Label, Name, Strict, parse_strictly

MAX_STAGES = 20
VOTER_TERMS = ("same_person", "permission")
_USER = (TypeKind.STRING, TypeKind.REF, TypeKind.ANY)
# A chain serves documents of every type. The fields that it reads are known only when it runs.
_SCOPE = make_scope(ANY, ANY, ANY)


class Stage(Strict):
    """One stage of a policy, one step of a chain, or an approval node with approvers of its own."""

    approvers: Annotated[tuple[Approver, ...], Constraint(min_length=1, max_length=MAX_APPROVERS)]
    quorum: Quorum = "all"
    escalate: Escalation | None = None
    expire_after: Deadline | None = None
    remind: Remind = None
    reason_required_for: ReasonedVotes = ("rejected",)

    @model_validator(mode="after")
    def _can_be_reached(self) -> "Stage":
        require_reachable_quorum(self.quorum, len(self.approvers))
        return self

    def to_json(self) -> dict[str, Any]:
        body = self.model_dump(mode="json")
        # The order in which an author lists them has no meaning.
        body["reason_required_for"] = sorted(set(body["reason_required_for"]))
        return body


Stages = Annotated[tuple[Stage, ...], Constraint(min_length=1, max_length=MAX_STAGES)]


class Chain(Strict):
    """A policy with a name, which approval nodes share."""

    name: Name
    label: Label = ""
    steps: Stages
    same_person: SamePerson = None
    permission: VoterPermission = None

    def to_json(self) -> dict[str, Any]:
        """Return the form that is hashed."""
        steps = [step.to_json() for step in self.steps]
        return {"name": self.name, "label": self.label, "steps": steps, **_describe_voters(self)}


class Policy(Strict):
    """The stages; `same_person` and `permission` are about the voters of all of them."""

    stages: Stages
    same_person: SamePerson = None
    permission: VoterPermission = None

    def stage(self, number: int) -> Stage:
        """Return the stage of this number, counted from 1."""
        return self.stages[number - 1]

    def to_text(self) -> str:
        stages = [stage.to_json() for stage in self.stages]
        return canonical_bytes({"stages": stages, **_describe_voters(self)}).decode()


def _describe_voters(policy: Chain | Policy) -> dict[str, Any]:
    """Return the terms for all voters that there are: a policy without any is written as ever."""
    terms = {name: getattr(policy, name) for name in VOTER_TERMS}
    return {name: value for name, value in terms.items() if value is not None}


def hash_policy(text: str) -> str:
    return hash_bytes(text.encode())


def parse_policy(text: str, expected_hash: str) -> Policy:
    """Parse the policy that a request was pinned to, and verify its hash."""
    if hash_policy(text) != expected_hash:
        raise Defect("APPROVAL_POLICY_ALTERED", "the policy of an approval does not match its hash")
    return _parse_stored(json.loads(text))


def policy_of_node(config: Mapping[str, Any]) -> Policy:
    """Make the policy of a compiled approval node with approvers of its own."""
    voters = {key: config[key] for key in VOTER_TERMS if key in config}
    return _parse_stored(
        {"stages": [{key: config[key] for key in Stage.model_fields if key in config}], **voters}
    )


def _parse_stored(document: Any) -> Policy:
    policy, findings = parse_strictly(Policy, document)
    if policy is None:
        raise Defect("APPROVAL_POLICY_UNREADABLE", f"a stored policy: {findings[0].sentence}")
    return policy


def parse_chain(document: Any) -> tuple[Chain | None, tuple[Finding, ...]]:
    """Parse an author's chain, or return every mistake in it."""
    chain, findings = parse_strictly(Chain, document)
    if chain is None:
        return None, findings
    mistakes = tuple(_check_stages(chain.steps, "/steps")) or tuple(check_seats_of(chain.steps))
    return (None if mistakes else chain), mistakes


def policy_of_chain(
    bodies: Sequence[Mapping[str, Any]], *, same_person: str | None = None, permission: str | None = None
) -> tuple[Policy | None, tuple[Finding, ...]]:
    """Make the policy of a chain's steps in their order, or return every mistake in them."""
    document = {"stages": list(bodies), "same_person": same_person, "permission": permission}
    policy, findings = parse_strictly(Policy, document)
    if policy is None:
        return None, findings
    mistakes = tuple(_check_stages(policy.stages, "/stages"))
    return (None if mistakes else policy), mistakes


def check_seats_of(steps: Sequence[Stage]) -> Iterator[Finding]:
    """Check that no requester chooses who decides. Of a published chain, running requests need no answer."""
    for approver, pointer in list_approvers(steps):
        yield from check_seat(approver.model_dump(mode="json"), pointer)


def list_approvers(steps: Sequence[Stage], root: str = "/steps") -> Iterator[tuple[Approver, str]]:
    """Return the approvers of all stages, with those that they escalate to, and where they stand."""
    for number, step in enumerate(steps):
        for index, approver in enumerate(step.approvers):
            yield approver, f"{root}/{number}/approvers/{index}"
        if step.escalate is not None:
            yield step.escalate.to, f"{root}/{number}/escalate/to"


def list_asked_roles(stage: Stage, seats: Iterable[Seat]) -> frozenset[str]:
    """List the roles that a stage asks: of its seats, and of approvers who have none, as nobody was left."""
    seated = (role for seat in seats for role in (seat.holder_role, seat.needed_role))
    named = (_role_of(approver) for approver in stage.approvers)
    return frozenset(role for role in (*seated, *named) if role is not None)


def _role_of(approver: Approver) -> str | None:
    match approver:
        case ByRole():
            return approver.role
        case ByExpression():
            return approver.who
        case _:
            return None


def _check_stages(stages: Sequence[Stage], root: str) -> Iterator[Finding]:
    for approver, pointer in list_approvers(stages, root):
        yield from _check_approver(approver, pointer)


def _check_approver(approver: Approver, pointer: str) -> Iterator[Finding]:
    match approver:
        case ByManager():
            yield from _check_expression(approver.of, f"{pointer}/of", _USER, "a user's id")
        case ByExpression():
            wanted = "a user's id or a list of them"
            kinds = (*_USER, TypeKind.LIST)
            yield from _check_expression(approver.expression, f"{pointer}/expression", kinds, wanted)
        case _:
            return


def _check_expression(text: str, pointer: str, kinds: tuple[TypeKind, ...], wanted: str) -> Iterator[Finding]:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        yield make_finding("FIELD_INVALID", pointer, problem=parsed.message)
        return
    value_type, errors = check(parsed, _SCOPE)
    if errors:
        for error in errors:
            yield make_finding("FIELD_INVALID", pointer, problem=error.message)
    elif value_type.kind not in kinds:
        yield make_finding("FIELD_INVALID", pointer, problem=f"gives {value_type}, wants {wanted}")
