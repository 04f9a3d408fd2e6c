"""The JSON form of an event: what it always has, and what it has only where it is known."""

from datetime import UTC, datetime
from uuid import UUID

from signet.core.integrations.cloud_events import CloudEvent

EVENT = CloudEvent(
    id=UUID(int=1),
    source="signet/test",
    type="invoice.approved",
    time=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
    tenant_id=UUID(int=2),
    data=None,
)


def test_what_is_not_known_is_left_out_but_never_the_data() -> None:
    assert EVENT.to_json() == {
        "specversion": "1.0",
        "id": "00000000-0000-0000-0000-000000000001",
        "source": "signet/test",
        "type": "invoice.approved",
        "time": "2026-03-01T12:00:00+00:00",
        "datacontenttype": "application/json",
        "tenant": "00000000-0000-0000-0000-000000000002",
        "data": None,
    }
