"""Ways to change who may decide: roles, reporting lines, and members who are disabled."""

from collections.abc import Iterator, Mapping
from functools import partial

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Role
from signet.engine.tenants.break_glass import BreakGlass
from signet.engine.tenants.org_chart import OrgChart
from signet.store.tenants.tenants import save_roles
from tests.support.company import VOTER
from tests.support.core.approval_policies import manager, role
from tests.support.ways.cells import Cell, Played, same
from tests.support.ways.contents import CLOSED
from tests.support.ways.involvements import DUTIES, GRANTED, NOT_ASKED, RESPONSIBLE, SAME, WHO
from tests.support.ways.operators import install
from tests.support.ways.scene import BOARD, FINANCE, SELF, AuthorityScene, Plan, approvers, refusal
from tests.support.ways.votes import ASKS_THE_BOARD

# --- a role ---


def get_the_role(scene: AuthorityScene) -> Iterator[str]:
    """Take the role that is asked, and then be given it by an administrator who has no part."""
    scene.role = BOARD
    scene.submit(ASKS_THE_BOARD)
    yield refusal(lambda: scene.save(scene.caller(scene.person), scene.person, FINANCE, BOARD))
    yield scene.vote(scene.person)
    scene.save(scene.caller(scene.boss), scene.person, FINANCE, BOARD)
    yield scene.vote(scene.person)


def give_the_role(scene: AuthorityScene) -> Iterator[str]:
    """Try all that, give the role to a third person, and take it from the holder who does not agree."""
    yield from get_the_role(scene)
    third = scene.hire("third")
    scene.save(scene.caller(scene.person), third, BOARD)
    yield scene.vote(third)
    scene.save(scene.caller(scene.person), scene.other, FINANCE)
    yield scene.vote(scene.lawful)
    scene.edit(scene.made, scene.caller(scene.clerk))
    scene.stage.drain()
    yield scene.vote(scene.lawful)


def vote_when_the_role_is_back(scene: AuthorityScene) -> str:
    """Vote when an administrator without a part has given the role back to the other holder."""
    scene.give_back()
    return scene.vote(scene.lawful)


def be_seated_by_operators(scene: AuthorityScene) -> Iterator[str]:
    """Take role and seat as an operator; as the author of the document, have another person seated."""
    scene.involvement = WHO["creator"]
    request_id = scene.submit(ASKS_THE_BOARD)
    operator, glass = scene.operate_as(scene.person), BreakGlass(scene.database)
    member = {"user_id": scene.person, "roles": [FINANCE, BOARD, "voter", "admin"]}
    yield refusal(lambda: install(scene, operator, member))
    propose = partial(glass.propose, operator, scene.tenant_id, request_id)
    yield refusal(lambda: propose(scene.person, "all are away"))
    third = scene.hire("third")
    proposal = propose(third, "all are away")
    yield refusal(lambda: glass.consent(operator, scene.tenant_id, proposal.id))
    glass.consent(scene.operate_as(scene.boss), scene.tenant_id, proposal.id)
    yield scene.vote(third)


def roles(code: str) -> tuple[tuple[str, str], ...]:
    return (
        ("gives themselves the role that is asked", SELF),
        ("votes without it", NOT_ASKED),
        ("is given it by another administrator, and votes", code),
    )


ROLE: Mapping[str, Cell] = {
    **same(
        Played(
            give_the_role,
            (
                *roles(DUTIES),
                ("gives it to a third person, who votes", GRANTED),
                ("takes it from one holder, and lets another one vote", GRANTED),
                ("has it asked about again, and lets that holder vote", CLOSED),
            ),
            vote_when_the_role_is_back,
        ),
        *RESPONSIBLE,
    ),
    "delegator": Played(get_the_role, roles(SAME)),
    "granter": Played(get_the_role, roles(GRANTED)),
    "operator": Played(
        be_seated_by_operators,
        (
            ("gives themselves the role by the tenant's file", SELF),
            ("seats themselves by break-glass", SELF),
            ("consents to the seat that they proposed for a third person", SELF),
            ("created the document, and has that person seated with another operator, who votes", GRANTED),
        ),
    ),
}

# --- a reporting line ---


def become_the_manager(scene: AuthorityScene) -> Iterator[str]:
    """Become the manager of the clerk, by one's own hand and by that of another administrator."""
    scene.role, chart = BOARD, OrgChart(scene.database)
    yield refusal(lambda: chart.set_manager(scene.caller(scene.person), scene.clerk, scene.person))
    chart.set_manager(scene.caller(scene.boss), scene.clerk, scene.person)
    scene.submit(Plan(approval=approvers(manager(f"'{scene.clerk}'"), role(BOARD))))
    yield scene.vote(scene.person)


def make_another_the_manager(scene: AuthorityScene) -> Iterator[str]:
    """Try that, and then make a third person the manager while the approval waits."""
    yield from become_the_manager(scene)
    third = scene.hire("third")
    OrgChart(scene.database).set_manager(scene.caller(scene.person), scene.clerk, third)
    yield scene.vote(third)
    yield refusal(lambda: _disable(scene, scene.lawful, heir=scene.person))
    yield from change_the_line_below(scene)


def change_the_line_below(scene: AuthorityScene) -> Iterator[str]:
    """Change a line below the one who is asked, so that another is asked next time.

    The lawful person manages the manager of the clerk, and the other one manages a fifth.
    """
    chart, middle, fifth = OrgChart(scene.database), scene.hire("middle"), scene.hire("fifth")
    for user_id, above in ((scene.clerk, middle), (middle, scene.lawful), (fifth, scene.other)):
        chart.set_manager(scene.caller(scene.boss), user_id, above)
    scene.submit(Plan(approval=approvers(manager(f"'{scene.clerk}'", levels=2), role(BOARD))))
    chart.set_manager(scene.caller(scene.person), scene.clerk, fifth)
    yield scene.vote(scene.other)
    scene.edit(scene.made, scene.caller(scene.clerk))
    scene.stage.drain()
    yield scene.vote(scene.other)


def vote_when_the_line_is_set(scene: AuthorityScene) -> str:
    """Vote when an administrator without a part has set the line again."""
    chart, middle = OrgChart(scene.database), scene.named("middle")
    chart.set_manager(scene.caller(scene.boss), scene.clerk, middle)
    scene.edit(scene.made, scene.caller(scene.clerk))
    scene.stage.retry(scene.made, scene.caller(scene.boss))
    return scene.vote(scene.lawful)


def install_the_manager(scene: AuthorityScene) -> Iterator[str]:
    """Become the manager of the clerk by the tenant's file."""
    scene.submit()
    own = {"user_id": scene.person, "roles": [FINANCE, "voter", "admin"]}
    report = {"user_id": scene.clerk, "roles": ["voter", "admin"], "manager": scene.person}
    yield refusal(lambda: install(scene, scene.operate_as(scene.person), own, report))


def lines(code: str) -> tuple[tuple[str, str], ...]:
    return (
        ("makes themselves the manager whose approval is asked", SELF),
        ("is made it by another administrator, and votes", code),
    )


MANAGER_LINE: Mapping[str, Cell] = {
    **same(
        Played(
            make_another_the_manager,
            (
                *lines(DUTIES),
                ("makes a third person the manager while the approval waits, who votes", NOT_ASKED),
                ("hands the seats and lines of a disabled approver over to themselves", SELF),
                ("changes a line below the manager who is asked, and lets another one vote", GRANTED),
                ("has it asked about again, and lets the one vote who is above the changed line", CLOSED),
            ),
            vote_when_the_line_is_set,
        ),
        *RESPONSIBLE,
    ),
    "delegator": Played(become_the_manager, lines(SAME)),
    "granter": Played(become_the_manager, lines(GRANTED)),
    "operator": Played(install_the_manager, (("makes themselves the manager by the tenant's file", SELF),)),
}

# --- the others, disabled ---


def _disable(scene: AuthorityScene, user_id: str, heir: str | None = None) -> None:
    """Disable a member who has the roles of the other holder."""
    by = scene.caller(scene.person)
    scene.save(by, user_id, *scene.roles_of_other, status="disabled", heir=heir)


def _bench(scene: AuthorityScene) -> str:
    """Give the other person a role of their own; return it."""
    bench = scene.named("bench")
    with scene.database.transaction(scene.tenant_id) as connection:
        save_roles(connection, scene.tenant_id, (Role(role=bench, permissions=VOTER),), COMMAND_LINE)
    scene.roles_of_other = (FINANCE, BOARD, bench)
    scene.hire("other", *scene.roles_of_other)
    return bench


def _submit_to(scene: AuthorityScene, bench: str) -> None:
    escalation = {"after": "P1D", "to": role(FINANCE)}
    scene.submit(Plan(approval=approvers(role(bench), escalate=escalation)))


def clear_the_bench(scene: AuthorityScene) -> Iterator[str]:
    """Disable everybody who is asked, wait for the escalation to one's own role, and vote."""
    _submit_to(scene, _bench(scene))
    _disable(scene, scene.other)
    scene.stage.drain()
    yield scene.vote(scene.person)
    scene.escalate()
    yield scene.vote(scene.person)


def clear_the_bench_for_another(scene: AuthorityScene) -> Iterator[str]:
    """Try that, let another person of the wider circle vote, and have it asked about again."""
    yield from clear_the_bench(scene)
    yield scene.vote(scene.lawful)
    scene.edit(scene.made, scene.caller(scene.clerk))
    scene.stage.retry(scene.made, scene.caller(scene.boss))
    scene.escalate()
    yield scene.vote(scene.lawful)


def clear_the_bench_by_file(scene: AuthorityScene) -> Iterator[str]:
    """Take the role from everybody who is asked, by the tenant's file."""
    _submit_to(scene, _bench(scene))
    member = {"user_id": scene.other, "roles": [FINANCE, BOARD, "voter", "admin"]}
    install(scene, scene.operate_as(scene.person), member)
    scene.stage.drain()
    yield scene.vote(scene.person)
    scene.escalate()
    yield scene.vote(scene.person)


def vote_when_they_are_enabled(scene: AuthorityScene) -> str:
    """Vote as one who was disabled and is enabled by an administrator who has no part."""
    scene.give_back()
    return scene.vote(scene.other)


BENCH = (
    ("disables all who are asked, and votes before the escalation is due", NOT_ASKED),
    ("votes when it was escalated to their role", DUTIES),
)
# Where the document's people clear the bench, every vote is barred: the instance pauses and says so.
PAUSED_BENCH = (
    BENCH[0],
    ("votes when the escalation is due, while the instance is paused", NOT_ASKED),
    ("lets another person of the wider circle vote", NOT_ASKED),
    ("has it asked about again, and lets that person vote when the escalation is due", NOT_ASKED),
)
DISABLE: Mapping[str, Cell] = {
    **same(
        Played(
            clear_the_bench_for_another,
            PAUSED_BENCH,
            vote_when_they_are_enabled,
        ),
        *RESPONSIBLE,
    ),
    **same(Played(clear_the_bench, (BENCH[0], (BENCH[1][0], GRANTED))), "delegator", "granter"),
    "operator": Played(
        clear_the_bench_by_file,
        (
            ("takes the role from all who are asked by the tenant's file, and votes", NOT_ASKED),
            ("votes when it was escalated to their role", GRANTED),
        ),
    ),
}
