"""The company of the engine's tests."""

from tests.support.company import company
from tests.support.named_things import named_things

__all__ = ["company", "named_things"]
