"""A script names what the workflow has. An answer to a call has the shape that the engine would save."""

from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.simulation import WorldScript, find_script_mistakes
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import chain, load

SAVED = {"endpoint": "bank", "save_as": "paid"}


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"reference": "P-1"}, "/outputs/bank/status"),
        ("P-1", "/outputs/bank/status"),
        (None, "/outputs/bank/status"),
        ({"status": 200}, "/outputs/bank/body"),
        ({"status": 200, "body": {}, "reference": "P-1"}, "/outputs/bank/reference"),
        ({"status": 200, "body": {"reference": "P-1"}}, None),
        ({"status": 200, "body": None}, None),
        ({"status": 200, "body": None, "duration_ms": 81.5}, None),
    ],
)
def test_an_answer_that_no_receiver_could_give_is_found(answer: Any, pointer: str | None) -> None:
    workflow = load(CONTRACT, approval=chain(("call", "webhook_out", SAVED)))
    found = [
        mistake.pointer for mistake in find_script_mistakes(workflow, WorldScript(outputs={"bank": answer}))
    ]
    assert found == ([pointer] if pointer else [])


def test_an_answer_that_nothing_saves_may_say_anything() -> None:
    workflow = load(CONTRACT, approval=chain(("call", "webhook_out", {"endpoint": "bank"})))
    assert find_script_mistakes(workflow, WorldScript(outputs={"bank": 7})) == []


TELL = {"channel": "in_app", "to": [{"by": "role", "role": "cfo"}], "text": "x"}
CUSTOMER = {"type": "ref", "entity_type": "customer"}
WITH_REF = {**CONTRACT, "fields": {**CONTRACT["fields"], "customer": CUSTOMER}}
LOOK = chain(
    ("look", "approval", {"approvers": [{"by": "role", "role": "cfo"}]}),
    ("call", "webhook_out", SAVED),
    ("tell", "notification", TELL),
)
CHECK = chain(
    ("known", "rule", {"rules": ["vendor_known"]}),
    ("stamp", "action", {"action": "post", "payload": {"at": "2026-01-01"}, "run_as": "system"}),
)


def read_contract() -> Contract:
    contract, mistakes = parse_contract(WITH_REF)
    assert contract is not None, mistakes
    return contract


@pytest.mark.parametrize(
    ("script", "pointer", "sentence"),
    [
        ({"approvals": {"lok": "approved"}}, "/approvals/lok", "no approval of the workflow. Did you mean"),
        ({"approvals": {"call": "approved"}}, "/approvals/call", "It has: *, look, usr:approval:look."),
        ({"effects": {"look": "error"}}, "/effects/look", "It has: *, call, tell, usr:approval:call,"),
        ({"effects": {"cal": "error"}}, "/effects/cal", "no call or notification of the workflow."),
        ({"outputs": {"call": {}}}, "/outputs/call", "no endpoint, event or action of the workflow."),
        ({"rules": {"vendor": True}}, "/rules/vendor", "Did you mean 'vendor_known'?"),
        ({"requests": ["submit", "fly"]}, "/requests/1", "of the workflow. It has: approve, cancel"),
        ({"refs": {"costumer": {}}}, "/refs/costumer", "no field of the type ref of the workflow."),
    ],
)  # fmt: skip
def test_a_name_that_the_workflow_does_not_have_is_found(
    script: dict[str, Any], pointer: str, sentence: str
) -> None:
    workflow = load(WITH_REF, approval=LOOK, checks=CHECK)
    (found,) = find_script_mistakes(workflow, WorldScript(contract=read_contract(), **script))
    assert (found.pointer, found.code) == (pointer, "NAME_UNKNOWN")
    assert sentence in found.message


def test_each_name_that_it_has_may_be_used() -> None:
    answer = {"status": 200, "body": None}
    script = WorldScript(
        requests=["submit", "cancel"],
        approvals={"*": "approved", "look": "approved", "usr:approval:look": "approved"},
        effects={"*": "delivered", "call": "delivered", "usr:approval:tell": "error"},
        outputs={"bank": answer, "post": {}},
        rules={"vendor_known": True},
        refs={"customer": {}},
        contract=read_contract(),
    )
    assert find_script_mistakes(load(WITH_REF, approval=LOOK, checks=CHECK), script) == []


def test_without_a_contract_no_ref_is_known_or_unknown() -> None:
    assert (
        find_script_mistakes(load(CONTRACT, approval=LOOK, checks=CHECK), WorldScript(refs={"any": {}})) == []
    )


def test_without_names_of_a_kind_it_says_so() -> None:
    (found,) = find_script_mistakes(load(CONTRACT), WorldScript(rules={"x": True}))
    assert found.message == "names no rule of the workflow. It has: none."
