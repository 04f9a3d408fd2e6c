"""The audited tenant of these tests."""

from tests.support.fixtures.audit import audited

__all__ = ["audited"]
