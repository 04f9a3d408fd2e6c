"""Remedies of incidents: each counted code has one, and none names an act that the server would refuse."""

import pytest

from signet.core.incidents.incident import COUNTED_CODES, ENGINE_FAILED, IncidentKind, kind_of
from signet.core.incidents.remedies import find_remedy


@pytest.mark.parametrize("code", sorted(COUNTED_CODES - {ENGINE_FAILED}))
def test_each_code_has_a_remedy_of_its_own(code: str) -> None:
    remedies = {find_remedy("SOMETHING_ELSE", kind) for kind in IncidentKind}
    assert find_remedy(code, kind_of(code)) not in remedies


@pytest.mark.parametrize("kind", IncidentKind)
def test_a_code_that_no_table_has_is_mended_by_its_kind(kind: IncidentKind) -> None:
    assert find_remedy("SOMETHING_ELSE", kind.value).endswith("retry.")


@pytest.mark.parametrize("code", ["APPROVAL_ALL_ABSTAINED"])
def test_a_retry_is_not_advised_where_it_ends_the_same_way(code: str) -> None:
    assert "retry ends the same way" in find_remedy(code, "business").replace("alone ", "")


@pytest.mark.parametrize("is_correctable", [True, False])
def test_a_value_that_the_workflow_gives_is_mended_by_another_workflow(is_correctable: bool) -> None:
    remedy = find_remedy("FIELDS_INVALID", "business", is_correctable=is_correctable)
    assert "publish one that gives something else" in remedy and "move the instance" in remedy
