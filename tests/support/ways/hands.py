"""Ways by an operator's acts: to answer by hand, to retry, to correct, to send back, to cancel a token."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.repairs import Repairs
from tests.support.ways.cells import Cell, Play, Played, same
from tests.support.ways.involvements import DUTIES, GRANTED, NOT_ASKED, RESPONSIBLE, SAME, WHO
from tests.support.ways.scene import NOT_REFUSED, AuthorityScene, Plan, approvers, refusal

LOOKUP = {"id": "lookup", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
ANSWER = {"status": 200, "body": {"iban": "DE-1"}}
LOOKUP_NODE, LOOK_NODE, BEGINNING = "usr:approval:lookup", "usr:approval:look", "sys:slot:approval:in"
WHY = "by phone"
Act = Callable[[AuthorityScene, Caller], str]


def caller_of(scene: AuthorityScene) -> Caller:
    """Return the person, or the command line that claims to be them."""
    return scene.command_line if scene.involvement is WHO["operator"] else scene.caller(scene.person)


def act(scene: AuthorityScene, do: Callable[..., Any], by: Caller, *said: Any) -> str:
    """Act on the instance as it is, and let it go on."""
    version = int(scene.stage.instance(scene.made.instance_id)["version"])
    answer = refusal(lambda: do(by, scene.made.instance_id, version, *said))
    scene.stage.drain()
    return answer


def instances_of(scene: AuthorityScene) -> Instances:
    return Instances(scene.database, scene.stage.caches(), CompiledCache())


def repairs_of(scene: AuthorityScene) -> Repairs:
    return Repairs(scene.database, scene.stage.caches(), CompiledCache())


def advance(scene: AuthorityScene, by: Caller) -> str:
    return act(scene, instances_of(scene).advance, by, LOOKUP_NODE, WHY, ANSWER)


def skip(scene: AuthorityScene, by: Caller) -> str:
    return act(scene, repairs_of(scene).skip, by, LOOKUP_NODE, WHY, ANSWER)


def retry(scene: AuthorityScene, by: Caller) -> str:
    return act(scene, instances_of(scene).retry, by, WHY)


def go_to(scene: AuthorityScene, by: Caller) -> str:
    return act(scene, repairs_of(scene).go_to, by, BEGINNING, WHY)


def cancel_token(scene: AuthorityScene, by: Caller) -> str:
    return act(scene, instances_of(scene).cancel_token, by, LOOK_NODE, WHY)


def correct(scene: AuthorityScene, by: Caller) -> str:
    corrections = Corrections(scene.database, scene.stage.caches(), CompiledCache())
    version, patch = scene.stage.version_of(scene.made.id), {"number": "DE-2"}
    answer = refusal(lambda: corrections.correct(by, scene.made.id, version, patch, WHY))
    scene.stage.drain()
    return answer


def wait_for_the_lookup(scene: AuthorityScene, *, seen_by: str | None = None) -> None:
    """Have the document wait for a call that stands before the approval.

    A person may have approved it for the gate before that.
    """
    see = {"id": "see", "type": "approval", "config": approvers({"by": "user", "user": seen_by})}
    plan = scene.involvement.plan(scene, Plan(slots={"checks": {"nodes": [see]}} if seen_by else {}))
    plan = replace(plan, first=[*plan.first, LOOKUP])
    scene.document = scene.involvement.create(scene, scene.publish(plan), plan)
    scene.request(scene.made, scene.involvement.requester(scene))
    if seen_by is not None:
        assert scene.vote(seen_by) == "approved"
    if scene.involvement is WHO["delegator"]:
        scene.involvement.bind(scene)


def fail_the_lookup(scene: AuthorityScene) -> None:
    scene.stage.answer(scene.made.instance_id, error="gone")
    scene.stage.drain()


def vote_at_last(scene: AuthorityScene) -> str:
    """Vote when people are asked; who takes roles does that first."""
    if scene.involvement is WHO["granter"]:
        scene.involvement.bind(scene)
    return scene.vote(caller_of(scene))


def answer_by(give: Act, *, is_held: bool) -> Play:
    """Try to give the answer; a person without part gives it where that is refused."""

    def play(scene: AuthorityScene) -> Iterator[str]:
        wait_for_the_lookup(scene)
        if is_held:
            fail_the_lookup(scene)
        answer = give(scene, caller_of(scene))
        yield answer
        if answer != NOT_REFUSED:
            assert give(scene, scene.caller(scene.boss)) == NOT_REFUSED
        yield vote_at_last(scene)
        if scene.involvement is WHO["operator"]:
            yield scene.vote(scene.person)

    return play


def retry_first(scene: AuthorityScene) -> Iterator[str]:
    wait_for_the_lookup(scene)
    fail_the_lookup(scene)
    yield retry(scene, caller_of(scene))
    assert advance(scene, scene.caller(scene.boss)) == NOT_REFUSED
    yield vote_at_last(scene)


def correct_what_was_seen(scene: AuthorityScene) -> Iterator[str]:
    wait_for_the_lookup(scene, seen_by=scene.hire("seer"))
    fail_the_lookup(scene)
    yield correct(scene, caller_of(scene))
    assert skip(scene, scene.caller(scene.boss)) == NOT_REFUSED
    yield vote_at_last(scene)


def send_back(scene: AuthorityScene) -> Iterator[str]:
    """Send the instance to the beginning of the slot, where it is asked about again."""
    scene.submit()
    yield go_to(scene, caller_of(scene))
    if scene.involvement is WHO["delegator"]:
        scene.involvement.bind(scene)
    yield scene.vote(caller_of(scene))


def cancel_and_ask(scene: AuthorityScene) -> Iterator[str]:
    """Cancel the token of the approval, which rejects the document; then have it asked about again."""
    scene.submit()
    yield cancel_token(scene, caller_of(scene))
    assert scene.status == "draft"
    scene.ask()
    yield scene.vote(caller_of(scene))


def give_back_and_vote(scene: AuthorityScene) -> str:
    scene.give_back()
    return scene.vote(scene.lawful)


def _answer(does: str, play: Play) -> Mapping[str, Cell]:
    then = "votes when another person has given the answer"
    return {
        **same(Played(play, ((does, DUTIES), (then, DUTIES))), *RESPONSIBLE),
        "delegator": Played(play, ((does, DUTIES), (then, SAME))),
        # Their answer makes them an editor, so that their taking bars everybody until it is undone.
        "granter": Played(
            play,
            ((does, NOT_REFUSED), ("takes the role from another holder, and votes", DUTIES)),
            give_back_and_vote,
        ),
        "operator": Played(
            play,
            (
                (f"{does}, by the command line", NOT_REFUSED),
                ("votes by the command line", NOT_ASKED),
                ("votes as the person who they said to be", DUTIES),
            ),
        ),
    }


def _go_on(does: str, then: str, play: Play, answer: str = NOT_REFUSED) -> Mapping[str, Cell]:
    return {
        **same(Played(play, ((does, answer), (then, DUTIES))), *RESPONSIBLE),
        "delegator": Played(play, ((does, answer), (then, SAME))),
        "granter": Played(play, ((does, answer), (then, GRANTED))),
        "operator": Played(
            play, ((f"{does}, by the command line", answer), (f"{then}, by the command line", NOT_ASKED))
        ),
    }


ADVANCE = _answer("ends the wait for a call with an answer of theirs", answer_by(advance, is_held=False))
SKIP = _answer("skips a call that has failed, with an answer of theirs", answer_by(skip, is_held=True))
RETRY = _go_on("retries a call that has failed", "votes when another person has answered it", retry_first)
CORRECT = _go_on(
    "corrects what another person has approved, when the next call has failed",
    "votes when another person has answered the call",
    correct_what_was_seen,
    "CORRECTION_NOT_POSSIBLE",
)
GO_TO = _go_on(
    "sends the instance to the beginning of the slot", "votes when it is asked about again", send_back
)
CANCEL_TOKEN = _go_on(
    "cancels the token of the approval", "votes when it was asked for again", cancel_and_ask
)
