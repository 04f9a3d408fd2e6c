"""Templates in tests, rendered where nothing is too large."""

from typing import Any

from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.expressions.render import Render


def render_whole(render: Render, env: Environment) -> tuple[Any, dict[str, Any]]:
    rendered = render(env)
    assert not isinstance(rendered, Rejected), rendered.message
    return rendered
