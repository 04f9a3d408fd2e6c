"""Principals: the names that only machines have, and the persons who answer for what one does."""

from uuid import UUID

import pytest

from signet.core.tenants.principal import KeyOfPrincipal, Principal, is_reserved

TENANT, KEY = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("subject", ["key:erp", f"key:{KEY}", "service:posting", "signet:system"])
def test_machines_have_names_that_no_person_has(subject: str) -> None:
    assert is_reserved(subject)


def test_a_person_answers_for_themselves_and_a_key_has_the_persons_behind_it() -> None:
    assert not is_reserved("keyla") and not is_reserved("services")
    assert Principal(TENANT, "ada", ()).responsible == {"ada"}
    key = Principal(TENANT, f"key:{KEY}", (), key=KeyOfPrincipal(KEY, "erp", "olga"))
    behind = Principal(TENANT, key.subject, (), key=key.key, behind=frozenset({"ada", "olga"}))
    assert behind.is_key and behind.responsible == {"ada", "olga"}
    assert Principal(TENANT, "signet:system", ()).responsible == frozenset()
