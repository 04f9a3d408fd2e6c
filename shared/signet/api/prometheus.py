"""Figures as text, in Prometheus' exposition format 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping

from signet.engine.incidents.counts import IncidentCount
from signet.engine.telemetry import Figure
from signet.store.outbox.measures import QueueFigures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def write_figures(figures: Iterable[Figure]) -> str:
    return "".join(line for figure in figures for line in _write(figure))


def describe_queues(queues: Mapping[str, QueueFigures]) -> list[Figure]:
    """Describe the queues of all tenants; a label names a queue and never a tenant."""
    rows = [
        ({"queue": queue, "status": status}, float(getattr(figures, status)))
        for queue, figures in queues.items()
        for status in ("pending", "failed", "processing", "dead_letter")
    ]
    expired = [({"queue": queue}, float(figures.expired)) for queue, figures in queues.items()]
    oldest = [({"queue": queue}, figures.oldest_due_seconds or 0.0) for queue, figures in queues.items()]
    return [
        _gauge("signet_outbox_rows", "Rows of an outbox by status, each counted to 100,000.", rows),
        _gauge("signet_outbox_expired_leases", "Rows whose worker did not come back.", expired),
        _gauge("signet_outbox_oldest_due_seconds", "For how long the oldest row has been due.", oldest),
    ]


def describe_incidents(counts: Iterable[IncidentCount]) -> list[Figure]:
    """Describe the open incidents of all tenants; a label is a code of a closed set."""
    counted = list(counts)
    by_code = [({"code": count.code}, float(count.open_count)) for count in counted]
    unattended = [({"code": count.code}, float(count.unattended_count)) for count in counted]
    return [
        _gauge("signet_incidents", "Open incidents by code, counted to 100,000.", by_code),
        _gauge("signet_incidents_unattended", "Those that nobody acknowledged for an hour.", unattended),
    ]


def _gauge(name: str, meaning: str, rows: Iterable[tuple[Mapping[str, str], float]]) -> Figure:
    return Figure(name, "gauge", meaning, [("", labels, value) for labels, value in rows])


def _write(figure: Figure) -> Iterator[str]:
    yield f"# HELP {figure.name} {_escape(figure.meaning)}\n# TYPE {figure.name} {figure.kind}\n"
    for suffix, labels, value in figure.samples:
        shown = ",".join(f'{name}="{_escape(text)}"' for name, text in labels.items())
        yield f"{figure.name}{suffix}{f'{{{shown}}}' if shown else ''} {_number(value)}\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
