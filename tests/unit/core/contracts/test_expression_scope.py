"""Questions about the text of an expression, before anything is compiled."""

import pytest

from signet.core.contracts.expression_scope import reads_actor


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("actor.user_id != entity.owner", True),
        ("entity.amount > 10 || !('clerk' in actor.roles)", True),
        ("entity.actor == 'x'", False),
        ("entity.amount >", False),
    ],
)
def test_an_expression_that_asks_who_acts_is_known_by_its_names(text: str, reads: bool) -> None:
    assert reads_actor(text) is reads
