"""A policy is what its author wrote, it survives being kept as text, and a wrong one is refused."""

from typing import Any

import pytest

from signet.core.approvals.policy import (
    MAX_STAGES,
    Chain,
    Stage,
    hash_policy,
    parse_chain,
    parse_policy,
    policy_of_chain,
    policy_of_node,
)
from signet.core.compiler.node_configurations import MAX_REMINDERS, ApprovalConfiguration
from signet.core.errors import Defect
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.approval_policies import expression, make_policy, make_stage, manager, role, user

EVERY_KIND = [
    user("ada"),
    role("cfo"),
    role("clerk", "round_robin"),
    manager(levels=2),
    {**expression("entity.owner"), "who": "clerk"},
]
BAD_ESCALATION = {"after": "P1D", "to": expression("entity.total > 1")}
FULL: dict[str, Any] = {
    "approvers": EVERY_KIND,
    "quorum": 2,
    "escalate": {"after": "P3D", "to": manager("entity.creator")},
    "expire_after": "P1W",
    "reason_required_for": ["rejected", "abstained"],
}
PLAIN: dict[str, Any] = {"approvers": [user("ada")]}
BUSINESS: dict[str, Any] = {
    **PLAIN,
    "escalate": {"after": {"days": 2, "calendar": "office"}, "to": user("bob")},
    "expire_after": {"hours": 9, "minutes": 30},
    "remind": {"after": {"days": 1}, "every": "PT4H", "at_most": 3},
}


def compile_config(document: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration as an artifact holds it."""
    config, findings = parse_strictly(ApprovalConfiguration, document)
    assert config is not None, findings
    return config.model_dump(mode="json", by_alias=True)


@pytest.mark.parametrize("document", [FULL, PLAIN, BUSINESS], ids=["full", "plain", "business"])
def test_a_node_and_a_chain_of_one_step_are_one_policy(document: dict[str, Any]) -> None:
    of_node = policy_of_node(compile_config(document))
    of_chain, findings = policy_of_chain([document])
    assert (of_node, ()) == (of_chain, findings)
    assert of_node.stage(1) == make_stage(
        *document["approvers"], **{k: v for k, v in document.items() if k != "approvers"}
    )


def test_a_node_that_names_a_chain_has_no_policy_of_its_own() -> None:
    with pytest.raises(Defect) as raised:
        policy_of_node(compile_config({"chain": "big_money"}))
    assert raised.value.code == "APPROVAL_POLICY_UNREADABLE"


def test_a_policy_comes_back_from_its_text() -> None:
    policy = make_policy(
        make_stage(*EVERY_KIND, quorum="any"),
        make_stage(user("bob"), expire_after="PT1H"),
        make_stage(*BUSINESS["approvers"], **{k: v for k, v in BUSINESS.items() if k != "approvers"}),
    )
    text = policy.to_text()
    assert parse_policy(text, hash_policy(text)) == policy
    assert policy.stage(2).expire_after == "PT1H"


def test_the_text_of_a_policy_is_fixed() -> None:
    assert make_policy(make_stage(user("ada"))).to_text() == (
        '{"stages":[{"approvers":[{"by":"user","user":"ada"}],"escalate":null,"expire_after":null,'
        '"quorum":"all","reason_required_for":["rejected"]}]}'
    )


def test_the_order_in_which_reasons_are_asked_for_is_not_part_of_a_policy() -> None:
    one = make_policy(make_stage(user("a"), reason_required_for=["rejected", "approved"]))
    other = make_policy(make_stage(user("a"), reason_required_for=["approved", "rejected", "approved"]))
    assert one.to_text() == other.to_text()


def test_an_altered_policy_is_noticed() -> None:
    text = make_policy(make_stage(user("ada"))).to_text()
    with pytest.raises(Defect) as raised:
        parse_policy(text.replace("ada", "eve"), hash_policy(text))
    assert raised.value.code == "APPROVAL_POLICY_ALTERED"


def test_a_stored_policy_that_is_none_is_a_defect() -> None:
    with pytest.raises(Defect) as raised:
        parse_policy('{"stages":[]}', hash_policy('{"stages":[]}'))
    assert raised.value.code == "APPROVAL_POLICY_UNREADABLE"


def test_a_chain_is_read_and_hashed_as_it_means() -> None:
    chain, findings = parse_chain({"name": "big_money", "label": "Big money", "steps": [PLAIN, FULL]})
    assert findings == () and chain is not None
    assert chain.to_json()["steps"] == [Stage.to_json(step) for step in chain.steps]
    again, findings = parse_chain(chain.to_json())
    assert findings == () and isinstance(again, Chain)
    assert again.to_json() == chain.to_json()
    policy, findings = policy_of_chain(chain.to_json()["steps"])
    assert findings == () and policy is not None
    assert policy.stages == again.steps


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ({}, "/approvers"),
        ({"approvers": []}, "/approvers"),
        ({**PLAIN, "quorum": 2}, ""),
        ({**PLAIN, "quorum": 0}, "/quorum"),
        ({**PLAIN, "quorum": "most"}, "/quorum"),
        ({**PLAIN, "chain": "other"}, "/chain"),
        ({**PLAIN, "expire_after": "soon"}, "/expire_after"),
        ({**PLAIN, "escalate": BAD_ESCALATION}, "/escalate/to/expression"),
        ({"approvers": [user("ada"), expression("entity.")]}, "/approvers/1/expression"),
        ({"approvers": [expression("nothing.known")]}, "/approvers/0/expression"),
        ({"approvers": [expression("7")]}, "/approvers/0/expression"),
        ({"approvers": [expression("actor.nope")]}, "/approvers/0/expression"),
        ({"approvers": [manager("actor.roles")]}, "/approvers/0/of"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_found_where_it_stands(step: dict[str, Any], place: str) -> None:
    chain, findings = parse_chain({"name": "c", "steps": [PLAIN, step]})
    assert chain is None
    assert findings and all(finding.place.startswith(f"/steps/1{place}") for finding in findings)
    policy, findings = policy_of_chain([PLAIN, step])
    assert policy is None
    assert findings and all(finding.place.startswith(f"/stages/1{place}") for finding in findings)


def test_who_approves_may_be_a_list() -> None:
    _, findings = parse_chain({"name": "c", "steps": [{"approvers": [expression("['ada', 'bob']")]}]})
    assert findings == ()


@pytest.mark.parametrize(
    ("count", "is_taken"), [(0, False), (1, True), (MAX_STAGES, True), (MAX_STAGES + 1, False)]
)
def test_a_chain_has_one_to_twenty_steps(count: int, is_taken: bool) -> None:
    chain, _ = parse_chain({"name": "c", "steps": [PLAIN] * count})
    assert (chain is not None) is is_taken


# --- the terms of all voters ---

TERMS = {"same_person": "allowed", "permission": "invoice:approve"}


def test_a_policy_without_terms_is_written_as_it_was() -> None:
    policy = policy_of_node(compile_config(PLAIN))
    assert (policy.same_person, policy.permission) == (None, None)
    assert "same_person" not in policy.to_text() and "permission" not in policy.to_text()


def test_terms_come_from_the_node_or_from_the_chain() -> None:
    of_node = policy_of_node(compile_config({**PLAIN, **TERMS}))
    assert (of_node.same_person, of_node.permission) == ("allowed", "invoice:approve")
    of_chain, findings = policy_of_chain([PLAIN], same_person="allowed", permission="invoice:approve")
    assert (of_node, ()) == (of_chain, findings)
    text = of_node.to_text()
    assert parse_policy(text, hash_policy(text)) == of_node
    assert text.startswith('{"permission":"invoice:approve","same_person":"allowed","stages":')


def test_a_chain_is_hashed_with_its_terms() -> None:
    plain, _ = parse_chain({"name": "large", "steps": [PLAIN]})
    chain, findings = parse_chain({"name": "large", "steps": [PLAIN], **TERMS})
    assert plain is not None and chain is not None and findings == ()
    assert plain.to_json().keys() == {"name", "label", "steps"}
    assert chain.to_json() == {**plain.to_json(), **TERMS}


@pytest.mark.parametrize("terms", [{"same_person": "yes"}, {"permission": "*:approve"}, {"permission": "x"}])
def test_wrong_terms_are_found(terms: dict[str, Any]) -> None:
    chain, findings = parse_chain({"name": "large", "steps": [PLAIN], **terms})
    assert chain is None and findings
    policy, findings = policy_of_chain([PLAIN], **terms)
    assert policy is None and findings


def test_a_published_chain_from_before_seats_were_locked_still_runs() -> None:
    policy, findings = policy_of_chain([{"approvers": [expression("entity.owner")]}])
    assert policy is not None and findings == ()


@pytest.mark.parametrize(
    ("terms", "place"),
    [
        ({"expire_after": "P1M"}, "/expire_after"),
        ({"expire_after": 3}, "/expire_after"),
        ({"expire_after": {"days": 0}}, "/expire_after/days"),
        ({"expire_after": {"days": 1, "hours": 1}}, "/expire_after"),
        ({"remind": {"after": "P1D", "at_most": 2}}, "/remind"),
        ({"remind": {"after": "P1D"}}, "/remind/at_most"),
        ({"remind": {"after": "P1D", "every": "P1D", "at_most": MAX_REMINDERS + 1}}, "/remind/at_most"),
    ],
)
def test_wrong_deadlines_and_reminders_are_found_in_their_place(terms: dict[str, Any], place: str) -> None:
    stage, findings = parse_strictly(Stage, {**PLAIN, **terms})
    assert (stage, [found.place for found in findings]) == (None, [place])
