"""Labels of machines: acts name a key or a service account by its id, and people read name and owner."""

import re
from collections.abc import Iterable
from uuid import UUID

from psycopg.rows import class_row

from signet.core.tenants.machine_label import MachineLabel
from signet.core.tenants.principal import KEY_PREFIX, SERVICE_PREFIX
from signet.core.validation.text import NAME
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# No page shows more subjects than this; further ones are shown by their ids.
MAX_LABELS = 500
_KEY_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read_machine_labels(
    connection: Connection, tenant_id: UUID, subjects: Iterable[str | None]
) -> dict[str, MachineLabel]:
    """Read the labels of the keys and accounts among these subjects. Without any, nothing is asked.

    A key of an older release acted by its name, and has no label.
    """
    machines = sorted({subject for subject in subjects if subject is not None and _is_machine(subject)})
    if not machines:
        return {}
    chosen = machines[:MAX_LABELS]
    values = {
        "tenant_id": tenant_id,
        "keys": [UUID(s.removeprefix(KEY_PREFIX)) for s in chosen if s.startswith(KEY_PREFIX)],
        "accounts": [s.removeprefix(SERVICE_PREFIX) for s in chosen if s.startswith(SERVICE_PREFIX)],
    }
    with connection.cursor(row_factory=class_row(MachineLabel)) as cursor:
        rows = cursor.execute(_SQL.read_machine_labels, values).fetchall()
    return {row.subject: row for row in rows}


def _is_machine(subject: str) -> bool:
    if subject.startswith(KEY_PREFIX):
        return _KEY_ID.fullmatch(subject.removeprefix(KEY_PREFIX)) is not None
    account = subject.removeprefix(SERVICE_PREFIX)
    return subject.startswith(SERVICE_PREFIX) and NAME.fullmatch(account) is not None
