"""Ways to change what is decided about: a value that is erased, a document that is amended."""

from collections.abc import Iterator, Mapping

from signet.engine.documents.commands import Update
from signet.engine.documents.erase import Erasures, erase_personal
from tests.support.ways.cells import Cell, Played, same
from tests.support.ways.involvements import DUTIES, NOT_ASKED, RESPONSIBLE, WHO
from tests.support.ways.scene import DENIED, AuthorityScene, Plan, refusal
from tests.support.workflow_stage import CONTRACT

STALE, CLOSED = "APPROVAL_STALE", "APPROVAL_CLOSED"
PERSONAL = Plan(data={"contact": "Erna"})
AMENDABLE = Plan().changed(states={**CONTRACT["states"], "submitted": {"edit": "amend_only"}}, amendment={})


def approve_in_turn(scene: AuthorityScene) -> str:
    """Approve as two lawful people, one after the other."""
    assert scene.vote(scene.lawful) == "approved"
    return scene.vote(scene.other)


# --- a personal value ---


def erase(scene: AuthorityScene) -> Iterator[str]:
    """Erase a value under the open approval; a lawful person votes about what they had read."""
    scene.submit(PERSONAL)
    Erasures(scene.database).erase(scene.hand, scene.made.id, None, "they asked")
    yield scene.vote(scene.lawful)
    scene.stage.drain()
    yield scene.vote(scene.person)


def erase_after_taking(scene: AuthorityScene) -> Iterator[str]:
    """Try that as a person who took the role from another: it is barred until they have it back."""
    yield from erase(scene)
    yield scene.vote(scene.lawful)
    scene.give_back()
    yield scene.vote(scene.person)


def erase_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    scene.submit(PERSONAL)
    caller = scene.command_line
    erase_personal(
        scene.database,
        scene.tenant_id,
        scene.made.id,
        actor_id=caller.principal.subject,
        responsible=caller.principal.responsible,
        via=caller.via,
        reason="they asked",
        claimed=caller.claimed,
    )
    yield scene.vote(scene.lawful)
    scene.stage.drain()
    yield scene.vote(caller)
    yield scene.vote(scene.person)


ERASED = (
    ("erases a personal value, and a lawful person votes about what they had read", STALE),
    ("votes when it is asked about again, without the value", DUTIES),
)
ERASE: Mapping[str, Cell] = {
    **same(Played(erase, ERASED), *RESPONSIBLE),
    "granter": Played(
        erase_after_taking,
        (
            ERASED[0],
            ("votes when it is asked about again, without the value", CLOSED),
            ("lets another holder of the role vote then", CLOSED),
            ("votes when another administrator has given the role back", DUTIES),
        ),
    ),
    "delegator": Played(erase, ERASED, approve_in_turn),
    "operator": Played(
        erase_by_command_line,
        (
            ("erases a personal value by the command line, and a lawful person votes", STALE),
            ("votes by the command line when it is asked about again", NOT_ASKED),
            ("votes as the person who they said to be", DUTIES),
        ),
    ),
}

# --- an amendment ---


def have_it_amended(scene: AuthorityScene) -> Iterator[str]:
    """Have another person amend the document; its other content stays that of the first."""
    original = scene.submit(AMENDABLE)
    scene.document = scene.edit(scene.made, scene.caller(scene.other))
    yield scene.vote(scene.person, about=original)
    scene.stage.drain()
    scene.ask()
    yield scene.vote(scene.person)


def amend_and_let_a_delegate_vote(scene: AuthorityScene) -> Iterator[str]:
    """Amend the document; then let the delegate approve it in the first approval again."""
    original = scene.submit(AMENDABLE)
    scene.document = scene.edit(scene.made, scene.caller(scene.person))
    yield scene.vote(scene.person, about=original)
    scene.stage.drain()
    scene.involvement = WHO["editor"]
    scene.ask()
    yield scene.vote(scene.named("delegate"))


def amend(scene: AuthorityScene) -> Iterator[str]:
    """Amend it as a person who took the role from another: nobody is asked until they have it back."""
    original = scene.submit(AMENDABLE)
    scene.document = scene.edit(scene.made, scene.caller(scene.person))
    yield scene.vote(scene.person, about=original)
    scene.stage.drain()
    scene.request(scene.made, scene.caller(scene.clerk))
    scene.give_back()
    yield scene.vote(scene.person)


def amend_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    scene.submit(AMENDABLE)
    version = scene.stage.version_of(scene.made.id)
    change = Update(scene.made.id, version, {"amount": 7})
    yield refusal(lambda: scene.mutate(scene.command_line, change))


AMEND: Mapping[str, Cell] = {
    **same(
        Played(
            have_it_amended,
            (
                ("has it amended by another person, and votes about the original", CLOSED),
                ("votes about the new document", DUTIES),
            ),
        ),
        *RESPONSIBLE,
    ),
    "delegator": Played(
        amend_and_let_a_delegate_vote,
        (
            ("amends it, and votes about the original", CLOSED),
            ("lets their delegate vote about the new document, which they wrote", DUTIES),
        ),
        approve_in_turn,
    ),
    "granter": Played(
        amend,
        (
            ("amends it, and votes about the original", CLOSED),
            ("votes when another administrator has given the role back", DUTIES),
        ),
    ),
    "operator": Played(amend_by_command_line, (("amends it by the command line", DENIED),)),
}
