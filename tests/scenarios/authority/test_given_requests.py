"""A request that decides rests on what others gave: the document's own people give nobody the permission."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from bench.counting import count_wire
from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.documents.commands import RequestTransition
from signet.engine.documents.mutate import Documents
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.store.database import Database, PoolSettings
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.test_benches_by_another_role import give, set_role
from tests.scenarios.authority.test_deciding_requests import deciding, submitted
from tests.support.database.runtime_roles import as_role
from tests.support.seen_references import read_digest
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

BARRED = "REQUEST_BARRED_BY_GRANT"
# Carl makes the documents, mia the vendors, and olga has no part in either.
PEOPLE = {"carl": "admin", "mia": "admin", "olga": "admin", "nina": "reader", "rita": "releaser"}
ROLES = {"reader": ("*:read",), "releaser": ("*:read", "*:accept"), "second": ("*:accept",)}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        roles = tuple(Role(role=name, permissions=granted) for name, granted in ROLES.items())
        members = tuple(
            Member(user_id=name, display_name=name, roles=(held,)) for name, held in PEOPLE.items()
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, roles, COMMAND_LINE)
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def payment(stage: WorkflowStage) -> Made:
    """Submit a payment that one person accepts by their request alone."""
    return submitted(stage, *deciding(stage), supplied_by="mia")[1]


def accept(stage: WorkflowStage, document: Made, user_id: str, *roles: str) -> str:
    """Return the status after the request, or the code of the refusal."""
    try:
        stage.ask(document.id, "accept", user_id, *roles)
    except Rejected as refused:
        assert (refused.code != BARRED) or refused.remedy
        return refused.code
    stage.drain()
    return stage.status_of(document.id)


@pytest.mark.parametrize("by", ["carl", "mia"])
def test_who_was_given_the_role_by_people_of_the_document_decides_nothing(
    stage: WorkflowStage, by: str
) -> None:
    """Mia last changed what the payment reads of its vendor."""
    document = payment(stage)
    assert accept(stage, document, "nina", "reader") == "PERMISSION_DENIED"
    give(stage, by, "nina", "releaser")
    assert accept(stage, document, "nina", "releaser") == BARRED
    # The lawful way: another person accepts it, who could before.
    assert accept(stage, document, "rita", "releaser") == "active"


def test_who_has_the_role_by_a_wider_permission_decides_nothing(stage: WorkflowStage) -> None:
    document = payment(stage)
    set_role(stage, "carl", "reader", "*:read", "*:accept")
    assert accept(stage, document, "nina", "reader") == BARRED
    assert accept(stage, document, "rita", "releaser") == "active"


def test_who_was_made_active_by_people_of_the_document_decides_nothing(stage: WorkflowStage) -> None:
    document = payment(stage)
    give(stage, "olga", "ilse", "releaser")
    disable(stage, "olga", "ilse")
    give(stage, "carl", "ilse", "releaser")
    assert accept(stage, document, "ilse", "releaser") == BARRED


def disable(stage: WorkflowStage, by: str, user_id: str) -> None:
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=("releaser",))
    Members(company.database).save(company.caller(by, "admin"), member, "disabled", succession=Succession())


def test_who_was_given_the_role_by_others_accepts(stage: WorkflowStage) -> None:
    document = payment(stage)
    give(stage, "olga", "nina", "releaser")
    assert accept(stage, document, "nina", "releaser") == "active"


def test_who_had_the_role_before_the_document_was_made_accepts(stage: WorkflowStage) -> None:
    give(stage, "carl", "nina", "releaser")
    assert accept(stage, payment(stage), "nina", "releaser") == "active"


def test_who_is_given_the_role_once_more_accepts(stage: WorkflowStage) -> None:
    """The person could do it without the gift."""
    document = payment(stage)
    give(stage, "carl", "rita", "releaser", "second")
    assert accept(stage, document, "rita", "releaser", "second") == "active"


def test_a_person_without_a_part_gives_another_role(stage: WorkflowStage) -> None:
    """The lawful way where nobody else may accept it. What was given stays given, as for a vote."""
    document = payment(stage)
    give(stage, "carl", "nina", "releaser")
    assert accept(stage, document, "nina", "releaser") == BARRED
    give(stage, "olga", "nina", "releaser", "second")
    assert accept(stage, document, "nina", "releaser", "second") == "active"


def test_a_request_that_decides_costs_one_statement_more_and_another_none(stage: WorkflowStage) -> None:
    """Count: before this rule the first two took 9 and 8 statements too, and the last two 11 and 10."""
    url, one = stage.standing.admin_url, PoolSettings(size=1)
    with closing(Database(as_role(url, "signet_api"), one)) as api:
        documents, counted = Documents(api, stage.registry), []
        for transition in ("cancel", "cancel", "accept", "accept"):
            made = payment(stage)
            company = stage.standing.company
            seen = read_digest(company.database, company.caller("rita", "releaser"), made.id)
            asked = RequestTransition(made.id, stage.version_of(made.id), transition, "so", seen)
            caller = company.caller("rita", *(["releaser"] if transition == "accept" else ["admin"]))
            counted.append(count_wire(api, partial(documents.mutate, caller, asked)).statements)
    # The first of a process reads its contract, and writes the sets of persons that are new to it.
    assert counted == [9, 8, 12, 11]
