"""Tenants and workers for the commands of operators."""

from tests.support.company import company
from tests.support.fixtures.audit import audited
from tests.support.fixtures.workers import worker, worker_database

__all__ = ["audited", "company", "worker", "worker_database"]
