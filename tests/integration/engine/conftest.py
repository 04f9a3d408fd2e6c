"""The company of the engine's tests."""

from tests.support.company import company

__all__ = ["company"]
