"""Permissions and their wildcards: what stands for every entity type, and never for Signet's own."""

import re
from pathlib import Path

import pytest

from signet.core.contracts.reader import RESERVED_CONTRACTS, parse_contract
from signet.core.tenants.permissions import OWN_RESOURCES, grants, grants_some

ROOT = Path(__file__).parents[4]
# Rooms that come next ask for these permissions; nothing asks for them yet.
ANNOUNCED = frozenset({"secret"})
# Words before a colon that are no permissions: quotas of requests, and ids of nodes.
NO_PERMISSIONS = frozenset({"api", "sys"})


@pytest.mark.parametrize("resource", sorted(OWN_RESOURCES))
def test_a_star_in_front_never_covers_signets_own_resources(resource: str) -> None:
    wanted = f"{resource}:edit"
    assert not grants(["*:edit", "invoice:*", "*:read"], wanted)
    for held in (wanted, f"{resource}:*", "*:*"):
        assert grants([held], wanted), held


def test_it_covers_every_entity_type() -> None:
    assert grants(["*:edit"], "invoice:edit")
    assert not grants(["*:edit"], "invoice:approve")
    assert not grants(["*:edit"], "*:*") and not grants(["*:edit"], "invoice:*")
    assert grants(["*:edit"], "*:edit"), "a role with it can be given by those who have it"


@pytest.mark.parametrize(
    ("held", "pattern", "is_granted"),
    [
        ("invoice:create", "*:create", True),
        ("invoice:*", "*:create", True),
        ("*:create", "*:create", True),
        ("*:*", "*:create", True),
        ("invoice:read", "*:create", False),
        ("*:edit", "*:create", False),
        ("member:*", "*:create", False),
        ("*:*", "contract:edit", True),
        ("contract:*", "contract:edit", True),
        ("contract:edit", "contract:edit", True),
        ("*:edit", "contract:edit", False),
        ("invoice:edit", "contract:edit", False),
        ("invoice:read", "*:*", True),
        ("*:read", "*:*", True),
        ("member:read", "*:*", False),
        ("workflow:skip", "workflow:*", True),
        ("*:skip", "workflow:*", False),
        ("invoice:create", "order:create", False),
    ],
)
def test_some_permission_of_a_pattern(held: str, pattern: str, is_granted: bool) -> None:
    assert grants_some(["quota:read", held], pattern) is is_granted
    assert not grants_some([], pattern)


def list_own_permissions() -> set[str]:
    """List the permissions that the engine's modules name."""
    found: set[str] = set()
    for path in (ROOT / "shared" / "signet" / "engine").rglob("*.py"):
        for line in re.findall(
            r'^[A-Z_, ]+ = ("[a-z_]+:[a-z_]+".*)$', path.read_text(encoding="utf-8"), re.M
        ):
            found |= set(re.findall(r'"([a-z_]+:[a-z_]+)"', line))
    return {permission for permission in found if permission.partition(":")[0] not in NO_PERMISSIONS}


def test_the_list_is_what_the_routes_ask_for() -> None:
    asked = {permission.partition(":")[0] for permission in list_own_permissions()}
    assert asked | ANNOUNCED == OWN_RESOURCES
    assert not asked & ANNOUNCED, "it is asked for by now: take it from ANNOUNCED"


def test_each_permission_has_its_line_in_the_docs() -> None:
    table = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").partition("| permission | grants |")[2]
    listed = set(re.findall(r"`([a-z_]+:[a-z_]+)`", table.partition("\n\n")[0]))
    acts_on_instances = {permission for permission in list_own_permissions() if "workflow:" in permission}
    assert list_own_permissions() - acts_on_instances <= listed


@pytest.mark.parametrize("resource", sorted(OWN_RESOURCES))
def test_no_entity_type_has_such_a_name(resource: str) -> None:
    document = {
        "contract": resource,
        "fields": {},
        "states": {"draft": {"edit": "editable", "initial": True}},
    }
    contract, findings = parse_contract(document)
    assert contract is None and resource in RESERVED_CONTRACTS
    assert "NAME_RESERVED" in {finding.code for finding in findings}
