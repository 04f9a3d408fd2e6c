from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from signet.store.database import Database
from tests.support.examples_tenant import Story, tell_story


@pytest.fixture
def story(database: Database, admin: psycopg.Connection[tuple[Any, ...]], owner_url: str) -> Iterator[Story]:
    with tell_story(database, admin, owner_url) as made:
        yield made
