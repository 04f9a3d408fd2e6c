"""Events for other systems, by CloudEvents 1.0 in its JSON form."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

# EventBridge keeps the type as `detail-type`, which has this limit.
MAX_TYPE_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """An event that `source` and `id` identify, however often it is sent."""

    id: UUID
    source: str
    type: str
    time: datetime
    tenant_id: UUID
    data: Any
    subject: str | None = None
    traceparent: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        """Write the event; `tenant` and `traceparent` are extension attributes."""
        attributes = {
            "specversion": "1.0",
            "id": str(self.id),
            "source": self.source,
            "type": self.type,
            "time": self.time.isoformat(),
            "datacontenttype": "application/json",
            "tenant": str(self.tenant_id),
            "subject": self.subject,
            "traceparent": self.traceparent,
        }
        present = {name: value for name, value in attributes.items() if value}
        return {**present, "data": self.data}
