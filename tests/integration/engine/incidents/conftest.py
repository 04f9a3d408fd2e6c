"""Workers, operators and the stage that a module shares."""

from tests.support.fixtures.workers import anna, instances, moves, operators, stage, worker, worker_database

__all__ = ["anna", "instances", "moves", "operators", "stage", "worker", "worker_database"]
