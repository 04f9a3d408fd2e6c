"""Who may do what to an instance, at which version, and when not."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.operations import Author
from signet.engine.instances import Instances
from signet.engine.waves.worker import Worker
from signet.ids import make_id
from tests.engine.conftest import Company, make_company
from tests.engine.waves.situations import (
    Admin,
    audited,
    create,
    instance_of,
    operator,
    row_of,
    stand_of,
    submit,
    version_of,
)

Act = Callable[[Instances, Author, UUID, int], object]
# Each act with what it asks for, on an instance at that version.
ACTS: dict[str, tuple[str, Act]] = {
    "pause": ("workflow:control", lambda i, author, id, version: i.pause(author, id, version, "why")),
    "fail": ("workflow:control", lambda i, author, id, version: i.fail(author, id, version, "why")),
    "resume": ("workflow:operate", lambda i, author, id, version: i.resume(author, id, version)),
    "wake": ("workflow:operate", lambda i, author, id, _: i.wake(author, id)),
    "rebuild": ("workflow:operate", lambda i, author, id, _: i.rebuild(author, id)),
    "requeue": ("workflow:operate", lambda i, author, _, __: i.requeue(author, [make_id()])),
}


@pytest.mark.parametrize("act", ACTS)
def test_each_act_names_the_permission_that_it_wants(
    company: Company, worker: Worker, instances: Instances, admin: Admin, act: str
) -> None:
    """Also of an instance that is not there: who may not learns nothing."""
    instance_id = instance_of(create(company, worker))
    permission, perform = ACTS[act]
    other = {"workflow:control": "workflow:operate", "workflow:operate": "workflow:control"}[permission]
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'able', %s), (%s, 'unable', %s)",
            [company.tenant_id, [permission], company.tenant_id, [other, "invoice:*"]],
        )
    before = row_of(admin, instance_id)
    for which in (instance_id, uuid4()):
        for role in ("unable", "nobody"):
            with pytest.raises(Rejected) as caught:
                perform(instances, company.author("olga", role), which, 2)
            assert caught.value.code == "PERMISSION_DENIED"
            assert caught.value.message == f"needs the permission '{permission}'"
    assert row_of(admin, instance_id) == before and audited(admin) == []
    if act == "resume":
        instances.pause(operator(company), instance_id, 2, "wait")
    perform(instances, company.author("olga", "able"), instance_id, version_of(admin, instance_id))


@pytest.mark.parametrize("act", ["pause", "resume", "fail"])
def test_who_saw_another_version_is_told_the_current_one(
    company: Company, worker: Worker, instances: Instances, admin: Admin, act: str
) -> None:
    instance_id = instance_of(create(company, worker))
    for version in (1, 3):
        with pytest.raises(Rejected) as caught:
            ACTS[act][1](instances, operator(company), instance_id, version)
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
        ACTS[act][1](instances, operator(company), instance_id, version_of(admin, instance_id))
    assert caught.value.code == code


@pytest.mark.parametrize("act", ["pause", "resume", "fail", "wake", "rebuild"])
def test_what_is_not_there_or_of_another_tenant_is_not_found(
    company: Company, worker: Worker, instances: Instances, act: str
) -> None:
    of_another = instance_of(create(company, worker))
    own = make_company(company.database)
    for instance_id in (uuid4(), of_another):
        with pytest.raises(Rejected) as caught:
            ACTS[act][1](instances, operator(own), instance_id, 2)
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
def test_stopping_wants_a_reason_that_can_be_kept(
    company: Company, worker: Worker, instances: Instances, reason: str
) -> None:
    instance_id = instance_of(create(company, worker))
    for act in (instances.pause, instances.fail):
        with pytest.raises(Rejected) as caught:
            act(operator(company), instance_id, 2, reason)
        assert caught.value.code == "FIELDS_INVALID"
        assert caught.value.fields[0].pointer == "/reason"
