"""The limit of persons behind one document: the next is refused, and those who are behind it go on."""

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.responsible import MAX_PERSONS, hash_responsible
from signet.engine.documents.commands import Update
from tests.support.workflow_stage import standing_stage


def test_the_person_beyond_the_limit_changes_nothing_and_the_others_do(server_url: str) -> None:
    with standing_stage(server_url) as stage:
        document = stage.create(stage.publish(), "mia")
        people = [f"p{number:03}" for number in range(MAX_PERSONS)]
        stage.standing.run_unguarded(
            "INSERT INTO responsible_sets (tenant_id, hash, persons) VALUES (%s, decode(%s, 'hex'), %s)",
            stage.tenant_id,
            hash_responsible(frozenset(people)),
            people,
        )
        stage.standing.run_unguarded(
            "UPDATE documents SET editor_responsible = decode(%s, 'hex') WHERE id = %s",
            hash_responsible(frozenset(people)),
            document.id,
        )
        with pytest.raises(Rejected) as refused:
            stage.mutate(Update(document.id, 1, {"amount": 2}), "carl")
        assert refused.value.code == "RESPONSIBLE_TOO_MANY"
        assert refused.value.remedy is not None and "who has worked on the document" in refused.value.remedy
        stage.mutate(Update(document.id, 1, {"amount": 2}), people[-1])
        assert stage.version_of(document.id) == 2
