"""Permissions, versions and states that each act on an instance needs."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.quotas import QUOTAS
from signet.engine.execution.worker import Worker
from signet.engine.instances.act_reports import ENTRIES
from signet.engine.instances.actions import Instances
from signet.engine.instances.operator_transaction import permission_of
from signet.engine.instances.repairs import Repairs
from signet.ids import make_id
from tests.support.company import Company, make_company
from tests.support.invoice_instances import (
    Admin,
    audited,
    create,
    hold,
    instance_of,
    operator,
    row_of,
    stand_of,
    submit,
    version_of,
)

Act = Callable[[Instances, Caller, UUID, int], object]


def repairs(instances: Instances) -> Repairs:
    return Repairs(instances._database, instances._caches, instances._compiled)


ACTS: dict[str, Act] = {
    "pause": lambda i, caller, id, version: i.pause(caller, id, version, "why"),
    "resume": lambda i, caller, id, version: i.resume(caller, id, version),
    "retry": lambda i, caller, id, version: i.retry(caller, id, version, "why"),
    "cancel": lambda i, caller, id, version: i.cancel(caller, id, version, "why"),
    "cancel_token": lambda i, caller, id, version: i.cancel_token(caller, id, version, "T", "why"),
    "advance": lambda i, caller, id, version: i.advance(caller, id, version, "T", "why"),
    "skip": lambda i, caller, id, version: repairs(i).skip(caller, id, version, "T", "why"),
    "go_to": lambda i, caller, id, version: repairs(i).go_to(caller, id, version, "sys:state:draft", "why"),
    "ask_again": lambda i, caller, id, version: repairs(i).ask_again(caller, id, version, "T", "why"),
    "fail": lambda i, caller, id, version: i.fail(caller, id, version, "why"),
    "wake": lambda i, caller, id, _: i.wake(caller, id),
    "rebuild": lambda i, caller, id, _: i.rebuild(caller, id),
    "requeue": lambda i, caller, _, __: i.requeue(caller, [make_id()]),
}
WITH_VERSION = [act for act in ACTS if act not in ("wake", "rebuild", "requeue")]


def test_each_act_has_a_name_for_its_history() -> None:
    # Moves, corrections and the acts on effects have tests of their own.
    assert {*ACTS, "move", "correct", "try_now", "withdraw", "discard"} == ENTRIES.keys()
    assert {permission_of(act) for act in ACTS} <= QUOTAS.keys()


@pytest.mark.parametrize("act", ACTS)
def test_each_act_wants_a_permission_of_its_own(
    company: Company, worker: Worker, instances: Instances, admin: Admin, act: str
) -> None:
    """Refuse likewise for an instance that does not exist, so that strangers learn nothing."""
    instance_id = instance_of(create(company, worker))
    permission, perform = f"workflow:{act}", ACTS[act]
    others = [f"workflow:{other}" for other in ACTS if other != act]
    with company.database.transaction(company.tenant_id) as connection:
        for role, permissions in (("unable", [*others, "invoice:*"]), ("able", [permission])):
            connection.execute(
                "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, %s, %s)",
                [company.tenant_id, role, permissions],
            )
    before = row_of(admin, instance_id)
    for which in (instance_id, uuid4()):
        for role in ("unable", "nobody"):
            with pytest.raises(Rejected) as caught:
                perform(instances, company.caller("olga", role), which, 2)
            assert caught.value.code == "PERMISSION_DENIED"
            assert caught.value.message == f"needs the permission '{permission}'"
    assert row_of(admin, instance_id) == before and audited(admin) == []
    assert try_to(perform, instances, company.caller("olga", "able"), instance_id) != "PERMISSION_DENIED"


def test_one_permission_may_stand_for_all_acts(
    company: Company, worker: Worker, instances: Instances
) -> None:
    instance_id = instance_of(create(company, worker))
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'operator', '{workflow:*}')",
            [company.tenant_id],
        )
    for perform in ACTS.values():
        code = try_to(perform, instances, company.caller("olga", "operator"), instance_id)
        assert code != "PERMISSION_DENIED"


def try_to(perform: Act, instances: Instances, caller: Caller, instance_id: UUID) -> str:
    """Return the code of the refusal, or nothing if the act is done."""
    try:
        perform(instances, caller, instance_id, 2)
    except Rejected as rejected:
        return rejected.code
    return ""


@pytest.mark.parametrize("act", WITH_VERSION)
def test_who_saw_another_version_is_told_the_current_one(
    company: Company, worker: Worker, instances: Instances, admin: Admin, act: str
) -> None:
    instance_id = instance_of(create(company, worker))
    for version in (1, 3):
        with pytest.raises(Rejected) as caught:
            ACTS[act](instances, operator(company), instance_id, version)
        assert caught.value.code == "INSTANCE_VERSION_CONFLICT"
        assert caught.value.details == {"current_version": 2}
    assert version_of(admin, instance_id) == 2


@pytest.mark.parametrize(
    ("act", "status", "code"),
    [
        ("pause", "paused", "INSTANCE_NOT_RUNNING"),
        ("pause", "completed", "INSTANCE_NOT_RUNNING"),
        ("wake", "paused", "INSTANCE_NOT_RUNNING"),
        ("wake", "completed", "INSTANCE_NOT_RUNNING"),
        ("resume", "running", "INSTANCE_NOT_PAUSED"),
        ("resume", "completed", "INSTANCE_NOT_PAUSED"),
        ("fail", "completed", "INSTANCE_ENDED"),
        ("cancel", "completed", "INSTANCE_ENDED"),
        ("cancel_token", "completed", "INSTANCE_ENDED"),
        ("advance", "paused", "INSTANCE_NOT_RUNNING"),
        ("advance", "completed", "INSTANCE_NOT_RUNNING"),
        ("skip", "paused", "INSTANCE_NOT_RUNNING"),
        ("skip", "running", "INSTANCE_TOKEN_NOT_SKIPPABLE"),
        ("skip", "completed", "INSTANCE_ENDED"),
        ("go_to", "paused", "INSTANCE_NOT_RUNNING"),
        ("go_to", "running", "INSTANCE_TARGET_NOT_POSSIBLE"),
        ("go_to", "completed", "INSTANCE_ENDED"),
        ("retry", "running", "INSTANCE_NOT_PAUSED"),
        ("retry", "paused", "INSTANCE_PAUSED_BY_PERSON"),
        ("retry", "completed", "INSTANCE_NOT_PAUSED"),
    ],
)
def test_an_act_out_of_place_is_refused(
    company: Company,
    worker: Worker,
    instances: Instances,
    admin: Admin,
    act: str,
    status: str,
    code: str,
) -> None:
    made = submit(company, worker) if status == "completed" else create(company, worker)
    instance_id = instance_of(made)
    if status == "paused":
        instances.pause(operator(company), instance_id, 2, "wait")
    assert stand_of(admin, instance_id)[0] == status
    with pytest.raises(Rejected) as caught:
        ACTS[act](instances, operator(company), instance_id, version_of(admin, instance_id))
    assert caught.value.code == code


@pytest.mark.parametrize("act", [act for act in ACTS if act != "requeue"])
def test_what_is_not_there_or_of_another_tenant_is_not_found(
    company: Company, worker: Worker, instances: Instances, act: str
) -> None:
    of_another = instance_of(create(company, worker))
    own = make_company(company.database)
    for instance_id in (uuid4(), of_another):
        with pytest.raises(Rejected) as caught:
            ACTS[act](instances, operator(own), instance_id, 2)
        assert caught.value.code == "INSTANCE_NOT_FOUND"


def test_a_suspended_tenant_operates_nothing(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(create(company, worker))
    admin.execute("UPDATE tenants SET status = 'suspended'")
    with pytest.raises(Rejected) as caught:
        instances.wake(operator(company), instance_id)
    assert caught.value.code == "TENANT_INACTIVE"


@pytest.mark.parametrize("reason", ["", "  ", "x" * 4_001, "a\0b"])
def test_most_acts_want_a_reason_that_can_be_kept(
    company: Company, worker: Worker, instances: Instances, admin: Admin, reason: str
) -> None:
    instance_id = instance_of(create(company, worker))
    olga = operator(company)
    held = instance_of(hold(company, worker, number="R-2"))
    attempts: list[Callable[[], object]] = [
        lambda: instances.pause(olga, instance_id, 2, reason),
        lambda: instances.fail(olga, instance_id, 2, reason),
        lambda: instances.cancel(olga, instance_id, 2, reason),
        lambda: instances.cancel_token(olga, instance_id, 2, "T", reason),
        lambda: instances.advance(olga, instance_id, 2, "T", reason),
        lambda: instances.retry(olga, held, version_of(admin, held), reason),
    ]
    for act in attempts:
        with pytest.raises(Rejected) as caught:
            act()
        assert caught.value.code == "FIELDS_INVALID"
        assert caught.value.fields[0].pointer == "/reason"
    assert version_of(admin, instance_id) == 2
