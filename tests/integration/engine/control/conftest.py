"""A worker for requests under a published workflow."""

from tests.support.fixtures.workers import stage

__all__ = ["stage"]
