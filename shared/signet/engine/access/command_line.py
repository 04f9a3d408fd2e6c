"""Callers of the command line. An address of the database is an operator's power, and nobody's person.

Such a caller acts on instances, installs tenants, grants quotas and erases. It holds no role and is no
member, so it never votes, asks, delegates or gives itself anything.
"""

from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import make_command_line
from signet.core.validation.text import find_text_problem
from signet.store.database import Database
from signet.store.tenants.tenants import read_session

VIA = "cli"
MAX_CLAIMED_CHARACTERS = 200


def read_command_line_caller(database: Database, tenant_id: UUID, claimed: str | None = None) -> Caller:
    """Make the caller of a command, by what the server knows of its session.

    The claimed person is noted beside it.
    """
    _require_claim(claimed)
    with database.transaction(tenant_id) as connection:
        user, address = read_session(connection)
    return Caller(make_command_line(tenant_id, user, address), VIA, claimed=claimed)


def _require_claim(claimed: str | None) -> None:
    if claimed is None:
        return
    is_text = 0 < len(claimed) <= MAX_CLAIMED_CHARACTERS and find_text_problem(claimed) is None
    if not is_text or not claimed.isprintable() or claimed != claimed.strip():
        mistake = FieldError("/actor", "FIELD_TEXT_INVALID", "wants the name of a person")
        raise Rejected("FIELDS_INVALID", "the actor is no name of a person", fields=(mistake,))
