"""Workers and the stage that a module shares."""

from tests.support.fixtures.workers import instances, stage, worker, worker_database

__all__ = ["instances", "stage", "worker", "worker_database"]
