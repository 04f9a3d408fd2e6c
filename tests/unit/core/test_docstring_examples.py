"""The examples in docstrings, run by doctest."""

import doctest
import importlib
import pkgutil

import pytest

import signet.core.expressions

EXPRESSIONS = sorted(
    f"signet.core.expressions.{module.name}"
    for module in pkgutil.iter_modules(signet.core.expressions.__path__)
)
MODULES = [
    "signet.core.backoff",
    "signet.core.canonical_json",
    "signet.core.expressions",
    "signet.core.validation.strict_model",
    "signet.core.validation.text",
    *EXPRESSIONS,
]


def list_examples(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return [docstring for docstring in found if docstring.examples]


EXAMPLES = [docstring for module in MODULES for docstring in list_examples(module)]


@pytest.mark.parametrize("docstring", EXAMPLES, ids=lambda docstring: docstring.name)
def test_the_examples_of_a_docstring_hold(docstring: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner().run(docstring, out=report.append)
    assert report == []


def test_examples_are_found() -> None:
    assert len(EXAMPLES) > 15


def test_a_wrong_example_fails() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda text: None).failed == 1
