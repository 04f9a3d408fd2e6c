"""Actions that make the same: behind an approval, each of them would do what was approved once more."""

from collections.abc import Iterator

from signet.core.contracts.contract import Contract, DeclaredAction
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


def list_alike_actions(contract: Contract, name: str) -> list[str]:
    """List the actions that make the same documents as this one, with itself."""
    action = contract.actions[name]
    if action.kind != "create":
        return [name]
    return [other for other, declared in contract.actions.items() if _describe(declared) == _describe(action)]


def find_actions_of_one_type(contract: Contract) -> Iterator[Finding]:
    """Yield a finding for each type of which several actions make documents that differ."""
    made: dict[str, dict[str, DeclaredAction]] = {}
    for name, action in contract.actions.items():
        if action.kind == "create" and action.entity_type is not None and action.repeats is None:
            made.setdefault(action.entity_type, {})[name] = action
    for entity_type, actions in made.items():
        first = next(iter(actions.values()))
        if any(_describe(action) != _describe(first) for action in actions.values()):
            names = ", ".join(f"'{name}'" for name in actions)
            place = point(("actions", list(actions)[-1]))
            yield make_finding("ACTIONS_OF_ONE_TYPE", place, actions=names, entity_type=entity_type)


def _describe(action: DeclaredAction) -> tuple[object, ...]:
    return action.kind, action.entity_type, action.set
