"""Users' Python is loaded by name, once, and a module that cannot be loaded is named."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

from signet.authoring.actions import (
    ActionActor,
    ActionDocument,
    ActionInput,
    ActionRegistry,
    ActionResult,
    action,
    freeze,
    name_function,
)
from signet.authoring.extensions import load_extensions
from signet.core.errors import Rejected
from signet.wiring import api as wiring

GOOD = """
from signet.authoring.actions import ActionInput, ActionResult, action

@action("case", "close")
def close(given: ActionInput) -> ActionResult:
    return ActionResult()
"""
TWICE = GOOD + GOOD.replace("def close", "def close_again")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder that Python imports from; its modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def close(given: ActionInput) -> ActionResult:
    return ActionResult()


class Reserve:
    def __call__(self, given: ActionInput) -> ActionResult:
        return ActionResult()


def test_a_module_is_imported_by_its_name(folder: Path) -> None:
    from signet.authoring.actions import REGISTRY

    (folder / "good_extension.py").write_text(GOOD.replace("case", "case_of_good"))
    registry = ActionRegistry()
    load_extensions(["good_extension", "json"], registry)
    assert registry.modules == ("good_extension", "json")
    found = REGISTRY.find("case_of_good", "close")
    assert found is not None and name_function(found) == "good_extension.close"


def test_every_module_that_cannot_be_imported_is_named(folder: Path) -> None:
    (folder / "broken_extension.py").write_text("1 / 0")
    (folder / "misspelt_extension.py").write_text("def (")
    (folder / "twice_extension.py").write_text(TWICE.replace("case", "case_of_twice"))
    registry = ActionRegistry()
    names = ["json", "no_such_extension", "broken_extension", "misspelt_extension", "twice_extension"]
    with pytest.raises(Rejected) as caught:
        load_extensions(names, registry)
    assert caught.value.code == "SETTINGS_INVALID" and "json" not in caught.value.message
    for text in (
        "'no_such_extension' cannot be imported (ModuleNotFoundError",
        "'broken_extension' cannot be imported (ZeroDivisionError",
        "'misspelt_extension' cannot be imported (SyntaxError",
        "two functions for the action 'close' of 'case_of_twice'",
    ):
        assert text in caught.value.message
    assert registry.modules == ()


def test_a_function_belongs_to_one_action_and_stays_a_function() -> None:
    registry = ActionRegistry()
    assert registry.action("case", "close")(close) is close
    assert registry.find("case", "close") is close
    assert registry.find("case", "open") is None and registry.find("invoice", "close") is None
    registry.action("case", "close")(close)  # a module that is imported again
    with pytest.raises(ValueError, match=r"test_extensions\.close and .*test_extensions\.Reserve"):
        registry.action("case", "close")(Reserve())


def test_what_an_action_is_given_cannot_be_changed() -> None:
    data: dict[str, Any] = {"lines": [{"sku": "a"}], "total": 5}
    document = ActionDocument(UUID(int=1), "invoice", "draft", 3, freeze(data))
    given = ActionInput(
        document, freeze({}), ActionActor("carl", ("clerk",)), freeze({}), datetime.now(UTC), freeze({})
    )
    for change in (
        lambda: given.document.data.update(total=6),  # type: ignore[attr-defined]
        lambda: given.document.data["lines"].append(1),
        lambda: given.document.data["lines"][0].update(sku="b"),
        lambda: setattr(given, "now", None),
        lambda: setattr(given.document, "version", 4),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert given.document.data == {"lines": ({"sku": "a"},), "total": 5}
    assert isinstance(given.document.data["lines"][0], MappingProxyType)


def test_the_wiring_loads_what_the_environment_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNET_DATABASE_URL", "postgresql:///signet")
    monkeypatch.setenv("SIGNET_EXTENSIONS", "no.such")
    with pytest.raises(Rejected, match=r"no\.such") as caught:
        wiring.get_application.__wrapped__()
    assert caught.value.code == "SETTINGS_INVALID"


def test_the_public_name_registers_for_everybody() -> None:
    from signet.authoring.actions import REGISTRY

    assert action == REGISTRY.action
