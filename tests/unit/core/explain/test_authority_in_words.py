"""An explanation says who decides by what right, what the contract requires, and what may be lost."""

import json
from copy import deepcopy

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.vocabulary import Vocabulary
from tests.support.core.small_workflows import CONTRACT as CONTRACT_BODY
from tests.support.core.small_workflows import PATCH, compile_patch, make_contract
from tests.unit.core.explain.test_definition import CONTRACT, join, read

CLERK = {"approvers": [{"by": "role", "role": "clerk"}]}


def test_any_join_says_that_one_approval_is_enough_and_what_was_accepted() -> None:
    enough = "One approval is enough here, although another branch was rejected."
    lost = 'The organisation ACCEPTS that nobody may decide in "b0" (4.3), because it can be cancelled.'
    both, one = (read(join("any", approvals=count), contract=CONTRACT) for count in (2, 1))
    assert enough in both and enough in one
    assert lost in one and "ACCEPTS" not in both
    assert "ACCEPTS" not in read(join("any", approvals=0), contract=CONTRACT)
    assert enough not in read(join("any", approvals=0), contract=CONTRACT)
    assert enough not in read(join("all", approvals=2), contract=CONTRACT)


def test_the_permission_of_an_automatic_transition_belongs_to_the_voters() -> None:
    contract = make_contract(conditions={"invoice:approve": "entity.budget_owner != actor.user_id"})
    text = read(compile_patch(PATCH, contract), contract=contract)
    assert "Each person who votes on the way to it needs the permission invoice:approve" in text
    assert (
        'The permission holds only if the invoice\'s "budget owner" is not the acting person'
        " (entity.budget_owner != actor.user_id); the acting person is the one who votes." in text
    )
    bare = read(compile_patch(None, contract), contract=contract)
    assert "Nobody votes on the way to it, so nobody needs the permission invoice:approve." in bare
    assert "Its condition is asked of nobody: the invoice's" in bare
    plain = read(compile_patch(None), contract=CONTRACT)
    assert "asked of nobody" not in plain


def test_what_a_contract_requires_of_a_slot() -> None:
    requires = {"approvals": 1, "distinct": True, "role": "clerk"}
    slots = {"approvals": {"transition": "approve", "requires": requires}}
    contract = make_contract(slots=slots)
    wanted = "at least 1 approval by distinct persons from seats of the role 'clerk'"
    artifact = compile_patch(
        {**PATCH, "slots": {"approvals": {"nodes": [{"id": "ask", "type": "approval", "config": CLERK}]}}},
        contract,
    )
    for text in (read(artifact, contract=contract), read(artifact)):
        assert f"The contract requires {wanted} on every way through these steps." in text
    bare = read(compile_patch(None, contract), contract=contract)
    assert (
        f'NOTHING PASSES IT: the contract requires {wanted} in "approvals", and nothing fills that.' in bare
    )


def test_the_terms_of_voters_and_whose_votes_count() -> None:
    contract = make_contract(conditions={"invoice:post": "entity.posted"})
    words = Vocabulary("invoice", contract)
    config = {
        "approvers": [{"by": "expression", "expression": "entity.number", "who": "chief_clerk"}],
        "same_person": "allowed",
        "permission": "invoice:post",
    }
    complete = NODE_TYPES["approval"].configuration.model_validate_json(json.dumps(config))
    text = " ".join(describe_step("approval", complete.model_dump(mode="json", by_alias=True), words))
    assert 'who holds the role "chief clerk" [chief_clerk]' in text
    assert "Each person who votes needs the permission invoice:post as well." in text
    assert "the acting person is the one who votes" in text
    assert "The same person may approve here and in every other approval that allows it too." in text
    alone = " ".join(
        describe_step("approval", complete.model_dump(mode="json", by_alias=True), Vocabulary("invoice"))
    )
    assert "permission invoice:post as well" in alone and "holds only if" not in alone


def test_what_people_may_repeat_by_hand_is_said() -> None:
    copy = {"kind": "create", "entity_type": "invoice", "set": {"number": "1"}}
    often = {"copy_often": {**copy, "repeats": "allowed"}}
    contract = make_contract(actions={**CONTRACT_BODY["actions"], "copy": copy, **often})
    said = "run the action copy often by hand behind an approval, as often as they like."
    for artifact in (compile_patch(PATCH, contract), compile_patch(None, contract)):
        text = read(artifact, contract=contract)
        assert said in text and text.count("by hand behind an approval") == 1


def test_an_edit_behind_approvals_is_said_to_change_what_people_approved() -> None:
    ask = {"approvals": {"nodes": [{"id": "ask", "type": "approval", "config": CLERK}]}}
    said = "IT CHANGES WHAT PEOPLE HAVE APPROVED, and nobody is asked again."
    for window, count in (("editable", 1), ("locked", 0)):
        states = {**CONTRACT_BODY["states"], "active": {**CONTRACT_BODY["states"]["active"], "edit": window}}
        contract = make_contract(states=states)
        assert read(compile_patch({**PATCH, "slots": ask}, contract), contract=contract).count(said) == count


def test_an_edit_behind_a_request_that_decides_is_said_to_change_it_too() -> None:
    """The contract alone says it, without a patch."""
    said = "IT CHANGES WHAT PEOPLE HAVE APPROVED, and nobody is asked again."
    states = {**CONTRACT_BODY["states"], "active": {**CONTRACT_BODY["states"]["active"], "edit": "editable"}}
    transitions = deepcopy(CONTRACT_BODY["transitions"])
    release = {name for name, transition in transitions.items() if transition["to"] == "active"}
    for deciding, count in ((release, 1), ((), 0)):
        for name in release:
            transitions[name] = {"from": transitions[name]["from"], "to": "active", "kind": "requested"}
        duties = {"deciding": sorted(deciding)}
        contract = make_contract(states=states, transitions=transitions, separation_of_duties=duties)
        assert read(compile_patch(None, contract), contract=contract).count(said) == count
