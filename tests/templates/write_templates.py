"""`make templates`: writes the package's JSON from the examples, which are YAML for people."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from signet.authoring.files import read_document
from signet.authoring.templates import FOLDER

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# By template: its purpose, and the examples that it is made of.
SOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "credit_note": (
        "Money back on an invoice: checked, issued, applied to the customer's account.",
        ("credit_note/contract.yaml", "credit_note/patch.yaml"),
    ),
    "delivery": (
        "A shipment on its way, with proof from outside or an alarm when none comes.",
        ("delivery/contract.yaml", "delivery/patch.yaml"),
    ),
    "invoice": (
        "A supplier's invoice: small ones of known vendors go through, others are approved.",
        ("invoice/contract.yaml", "invoice_fast_track/patch.yaml"),
    ),
    "project_task": (
        "A piece of work: planned, started, reviewed, done, and reopened where need be.",
        ("project_task/contract.yaml",),
    ),
    "purchase_order": (
        "An order to a supplier: approved by budget owner and finance, sent, received, closed.",
        ("purchase_order/contract.yaml", "purchase_order/patch.yaml"),
    ),
    "royalty": (
        "On the first of each month a statement is made, and looked at where it is odd.",
        ("royalty/automation.yaml",),
    ),
}


def write_texts() -> Iterator[tuple[Path, str]]:
    for name, (summary, files) in SOURCES.items():
        documents = [read(file) for file in files]
        template = {"label": documents[0]["label"], "summary": summary}
        template |= {_kind(document): document for document in documents}
        yield FOLDER / f"{name}.json", json.dumps(template, indent=1, ensure_ascii=False) + "\n"


def read(file: str) -> dict[str, Any]:
    document, findings = read_document(EXAMPLES / file)
    assert isinstance(document, dict), findings
    return document


def _kind(document: Mapping[str, Any]) -> str:
    return next(kind for kind in ("contract", "patch", "automation") if kind in document)


if __name__ == "__main__":
    for path, text in write_texts():
        path.write_text(text, encoding="utf-8")
