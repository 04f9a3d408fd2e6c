"""The stage that a module of random lives shares."""

from tests.support.fixtures.workers import stage

__all__ = ["stage"]
