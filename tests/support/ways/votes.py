"""Ways to vote: by oneself, in bulk, and by delegations."""

from collections.abc import Iterator, Mapping
from functools import partial

from tests.support.core.approval_policies import VOTES, role
from tests.support.ways.cells import Cell, Play, Played, same
from tests.support.ways.involvements import DUTIES, GRANTED, NOT_ASKED, RESPONSIBLE, SAME, WHO
from tests.support.ways.scene import BOARD, DENIED, SELF, AuthorityScene, Plan, approvers, refusal
from tests.support.workflow_stage import CONTRACT

REQUESTED = {"from": ["submitted"], "to": "active", "kind": "requested"}
ASKS_THE_BOARD = Plan(approval=approvers(role(BOARD)))


def vote(scene: AuthorityScene) -> Iterator[str]:
    scene.submit()
    yield answer_to_each(scene, in_bulk=False)


def vote_in_bulk(scene: AuthorityScene) -> Iterator[str]:
    scene.submit()
    yield answer_to_each(scene, in_bulk=True)


def ask_first(scene: AuthorityScene) -> Iterator[str]:
    """Ask, let another person ask for the same, and have people asked again after an edit."""
    yield from vote(scene)
    on_request = {**CONTRACT["transitions"], "approve": REQUESTED}
    entity_type = scene.publish(Plan().changed(transitions=on_request))
    scene.document = scene.create(entity_type, scene.caller(scene.boss))
    scene.request(scene.made, scene.caller(scene.clerk))
    for by in (scene.person, scene.clerk):
        scene.request(scene.made, scene.caller(by), "approve")
    scene.edit(scene.made, scene.caller(scene.clerk))
    scene.stage.drain()
    scene.request(scene.made, scene.caller(scene.clerk), "approve")
    yield scene.vote(scene.person)


def answer_to_each(scene: AuthorityScene, *, in_bulk: bool) -> str:
    """Try to approve, to reject and to abstain; return the one answer to all of them."""
    by = scene.command_line if scene.involvement is WHO["operator"] else scene.caller(scene.person)
    (answer,) = {scene.vote(by, each, in_bulk=in_bulk) for each in VOTES}
    return answer


def approve(scene: AuthorityScene) -> Iterator[str]:
    """Try to approve alone: a person who has approved before may still reject."""
    scene.submit()
    yield scene.vote(scene.person)


def approve_in_bulk(scene: AuthorityScene) -> Iterator[str]:
    scene.submit()
    yield scene.vote(scene.person, in_bulk=True)


def vote_for_each_other(scene: AuthorityScene) -> Iterator[str]:
    """Give one's voice away, and then get the voice of a lawful person."""
    second = scene.hire("second")
    scene.submit()
    scene.delegate(scene.caller(scene.person), scene.person, second)
    yield scene.vote(second)
    scene.role = BOARD
    scene.submit(ASKS_THE_BOARD)
    yield refusal(lambda: scene.delegate(scene.caller(scene.person), scene.lawful, scene.person))
    yield scene.vote(scene.person)
    scene.delegate(scene.caller(scene.lawful), scene.lawful, scene.person)
    yield scene.vote(scene.person)


def give_the_voice_of_another(scene: AuthorityScene) -> Iterator[str]:
    """Try all that, and give the voice of a lawful person to a third person."""
    yield from vote_for_each_other(scene)
    third = scene.hire("third")
    scene.delegate(scene.caller(scene.person), scene.lawful, third)
    yield scene.vote(third)
    entity_type, fourth = scene.type_of_document(), scene.hire("fourth")
    scene.delegate(scene.caller(scene.lawful), scene.lawful, fourth, entity_type=entity_type)
    again = partial(scene.delegate, scene.caller(scene.person), scene.lawful, fourth)
    yield refusal(lambda: again(entity_type=entity_type))
    # For all types it is no repetition: it bars nobody either.
    again()


def vote_by_delegation(scene: AuthorityScene) -> str:
    """Vote as the delegate that the lawful person has chosen."""
    return scene.vote(scene.named("fourth"))


def delegate_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    scene.submit()
    yield refusal(lambda: scene.delegate(scene.command_line, scene.lawful, scene.person))


def cast(play: Play, does: str, approving: Play) -> Mapping[str, Cell]:
    return {
        **same(Played(play, ((f"{does} in each of the three ways", DUTIES),)), *RESPONSIBLE),
        "delegator": Played(approving, ((f"{does} to approve", SAME),)),
        "granter": Played(play, ((f"{does} in each of the three ways", GRANTED),)),
        "operator": Played(play, ((f"{does} by the command line", NOT_ASKED),)),
    }


def between(code: str) -> tuple[tuple[str, str], ...]:
    return (
        ("gives their voice to a delegate, who votes", code),
        ("as an administrator gives themselves the voice of a lawful person", SELF),
        ("votes without that voice", NOT_ASKED),
        ("is given it by the lawful person, and votes", code),
    )


EACH = ("votes in each of the three ways", DUTIES)
ASKED_FIRST = (
    "votes, after they and then another person asked, and it was edited and asked for again",
    DUTIES,
)
VOTE = {**cast(vote, "votes", approve), "requester": Played(ask_first, (EACH, ASKED_FIRST))}
BULK = cast(vote_in_bulk, "votes among many decisions", approve_in_bulk)
FOR_A_THIRD = ("as an administrator gives the lawful voice to a third person, who votes", GRANTED)
ONCE_MORE = (
    "gives the voice of the lawful person once more to the delegate that they have chosen",
    "DELEGATION_OVERLAPS",
)
DELEGATE: Mapping[str, Cell] = {
    **same(
        Played(
            give_the_voice_of_another,
            (*between(DUTIES), FOR_A_THIRD, ONCE_MORE),
            vote_by_delegation,
        ),
        *RESPONSIBLE,
    ),
    "delegator": Played(vote_for_each_other, between(SAME)),
    "granter": Played(vote_for_each_other, between(GRANTED)),
    "operator": Played(
        delegate_by_command_line,
        (("by the command line gives themselves the voice of a lawful person", DENIED),),
    ),
}
