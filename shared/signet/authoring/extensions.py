"""Users' Python: the modules that SIGNET_EXTENSIONS names. Importing one registers its actions."""

from collections.abc import Sequence
from importlib import import_module

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.errors import Rejected

MAX_SHOWN_CHARACTERS = 500


def load_extensions(modules: Sequence[str], registry: ActionRegistry = REGISTRY) -> None:
    """Import all modules, or raise an error that names each one that cannot be imported."""
    mistakes = [mistake for name in modules if (mistake := _import(name)) is not None]
    if mistakes:
        raise Rejected(
            "SETTINGS_INVALID",
            f"SIGNET_EXTENSIONS: {'; '.join(mistakes)}",
            remedy="Name modules that Python finds and that import without an error.",
        )
    registry.modules = tuple(modules)


def _import(name: str) -> str | None:
    try:
        import_module(name)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_SHOWN_CHARACTERS]
        return f"the module '{name}' cannot be imported ({reason})"
    return None
