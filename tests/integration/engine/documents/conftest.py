"""The audited tenant, for the tests of erasure."""

from tests.support.fixtures.audit import audited

__all__ = ["audited"]
