"""Chains from draft to published: versions only grow, mistakes come back as findings."""

from typing import Any

import pytest

from signet.core.approvals.policy import policy_of_chain
from signet.core.errors import Rejected
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from tests.support.approval_requests import Asking
from tests.support.company import make_company
from tests.support.core.approval_policies import expression, role, user

CHAIN: dict[str, Any] = {
    "name": "large",
    "label": "Large invoices",
    "steps": [{"approvers": [role("finance")]}, {"approvers": [user("anna"), user("dora")], "quorum": "any"}],
}


@pytest.fixture
def chains(asking: Asking) -> ApprovalChains:
    return ApprovalChains(asking.company.database)


def saved(chains: ApprovalChains, asking: Asking, **changes: Any) -> ChainVersion:
    made = chains.save(asking.company.caller("carl"), {**CHAIN, **changes})
    assert isinstance(made, ChainVersion)
    return made


def test_a_draft_is_kept_as_it_was_written(asking: Asking, chains: ApprovalChains) -> None:
    made = saved(chains, asking)
    row = chains.read(asking.company.caller(), "large", 1)
    assert (row.version, row.status, row.label, row.hash) == (1, "draft", "Large invoices", made.hash)
    policy, findings = policy_of_chain(row.steps)
    assert policy is not None and findings == ()
    assert [stage.quorum for stage in policy.stages] == ["all", "any"]


def test_versions_grow_and_the_same_again_is_the_same(asking: Asking, chains: ApprovalChains) -> None:
    first = saved(chains, asking)
    assert saved(chains, asking) == first
    second = saved(chains, asking, label="Other")
    assert (second.version, second.hash != first.hash) == (2, True)
    assert saved(chains, asking).version == 3
    assert saved(chains, asking, name="small").version == 1


def test_publishing_freezes_and_archiving_ends(asking: Asking, chains: ApprovalChains) -> None:
    caller, made = asking.company.caller("carl"), saved(chains, asking)
    assert not isinstance(published := chains.publish(caller, "large", 1), tuple)
    assert (published.version, published.hash) == (made.version, made.hash)
    with pytest.raises(Rejected, match="is published"):
        chains.publish(caller, "large", 1)
    chains.archive(caller, "large", 1)
    with pytest.raises(Rejected, match="this is archived"):
        chains.archive(caller, "large", 1)
    actions = asking.rows("SELECT action FROM audit_log WHERE subject_type = 'approval_chain' ORDER BY seq")
    assert actions == [("save_chain",), ("publish_chain",), ("archive_chain",)]


def test_a_draft_is_not_archived(asking: Asking, chains: ApprovalChains) -> None:
    saved(chains, asking)
    with pytest.raises(Rejected) as caught:
        chains.archive(asking.company.caller(), "large", 1)
    assert caught.value.code == "VERSION_FROZEN"


def test_mistakes_come_back_and_nothing_is_written(asking: Asking, chains: ApprovalChains) -> None:
    wrong = [{**CHAIN, "steps": []}, {**CHAIN, "steps": [{"approvers": [expression("1 +")]}]}, 5]
    for document in wrong:
        findings = chains.save(asking.company.caller(), document)
        assert isinstance(findings, tuple) and findings
    assert asking.rows("SELECT count(*) FROM approval_chains") == [(0,)]


def test_a_stored_chain_that_is_none_any_more_is_not_published(
    asking: Asking, chains: ApprovalChains
) -> None:
    saved(chains, asking)
    asking.run("UPDATE approval_chain_steps SET body = '{}' WHERE position = 2")
    findings = chains.publish(asking.company.caller(), "large", 1)
    assert isinstance(findings, tuple) and findings
    assert chains.read(asking.company.caller(), "large", 1).status == "draft"


def test_who_may_not_does_nothing_and_learns_nothing(asking: Asking, chains: ApprovalChains) -> None:
    saved(chains, asking)
    caller = asking.company.caller("carl", "clerk")
    for act in (
        lambda: chains.save(caller, CHAIN),
        lambda: chains.publish(caller, "large", 1),
        lambda: chains.archive(caller, "nothing", 1),
        lambda: chains.read(caller, "large", 1),
    ):
        with pytest.raises(Rejected) as caught:
            act()
        assert caught.value.code == "PERMISSION_DENIED"


def test_another_tenant_has_no_such_chain(asking: Asking, chains: ApprovalChains) -> None:
    saved(chains, asking)
    other = make_company(asking.company.database)
    with pytest.raises(Rejected) as caught:
        chains.publish(other.caller(), "large", 1)
    assert caught.value.code == "CHAIN_NOT_FOUND"


# --- lists ---


def test_of_each_chain_the_newest_published_version_is_listed_by_name(
    asking: Asking, chains: ApprovalChains
) -> None:
    caller = asking.company.caller()
    for name in ("small", "large", "draft_only", "archived", "medium"):
        saved(chains, asking, name=name)
        if name != "draft_only":
            chains.publish(caller, name, 1)
    chains.archive(caller, "archived", 1)
    for label in ("Second", "Third"):
        saved(chains, asking, label=label)
    chains.publish(caller, "large", 2)
    assert [(each.name, each.version) for each in chains.list(caller)] == [
        ("large", 2),
        ("medium", 1),
        ("small", 1),
    ]
    (first,) = chains.list(caller, limit=1)
    assert first.label == "Second" and first.published_at is not None
    assert [each.name for each in chains.list(caller, limit=1, after=first.name)] == ["medium"]
    assert chains.list(caller, after="small") == []


def test_the_versions_of_a_chain_are_listed_the_newest_first(asking: Asking, chains: ApprovalChains) -> None:
    caller = asking.company.caller()
    for label in ("One", "Two", "Three"):
        saved(chains, asking, label=label)
    saved(chains, asking, name="other")
    chains.publish(caller, "large", 2)
    versions = chains.list_versions(caller, "large")
    assert [(each.version, each.label, each.status) for each in versions] == [
        (3, "Three", "draft"),
        (2, "Two", "published"),
        (1, "One", "draft"),
    ]
    assert [each.version for each in chains.list_versions(caller, "large", limit=1)] == [3]
    assert [each.version for each in chains.list_versions(caller, "large", limit=2, before=3)] == [2, 1]
    assert chains.list_versions(caller, "nothing") == []


def test_without_a_version_one_reads_what_is_in_force(asking: Asking, chains: ApprovalChains) -> None:
    caller = asking.company.caller()
    saved(chains, asking)
    with pytest.raises(Rejected) as caught:
        chains.read(caller, "large")
    assert caught.value.code == "CHAIN_NOT_FOUND"
    chains.publish(caller, "large", 1)
    saved(chains, asking, label="Next")
    found = chains.read(caller, "large")
    assert (found.version, found.label, len(found.steps)) == (1, "Large invoices", 2)


def test_lists_are_for_those_who_manage_and_of_their_own_tenant(
    asking: Asking, chains: ApprovalChains
) -> None:
    saved(chains, asking)
    chains.publish(asking.company.caller(), "large", 1)
    other = make_company(asking.company.database).caller()
    assert chains.list(other) == chains.list_versions(other, "large") == []
    clerk = asking.company.caller("anna", "clerk")
    with pytest.raises(Rejected) as caught:
        chains.list(clerk)
    assert caught.value.code == "PERMISSION_DENIED"
    with pytest.raises(Rejected) as caught:
        chains.list_versions(clerk, "large")
    assert caught.value.code == "PERMISSION_DENIED"
