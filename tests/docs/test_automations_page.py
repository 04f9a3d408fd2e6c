"""The automation that the page shows, as its reader publishes and fires it."""

import re
from pathlib import Path

from signet.authoring.files import read_document
from signet.engine.documents.commands import Create, Update
from tests.support.automated_documents import list_entries, list_started
from tests.support.company import INVOICE
from tests.support.workflow_stage import standing_stage

PAGE = Path(__file__).resolve().parents[2] / "docs" / "automations.md"


def test_the_example_tells_of_an_invoice_that_became_large(server_url: str, tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(automation: .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    (tmp_path / "automation.yaml").write_text(example[1], encoding="utf-8")
    body, findings = read_document(tmp_path / "automation.yaml")
    assert findings == ()
    with standing_stage(server_url) as stage:
        company = stage.standing.company
        draft = company.definitions.create(company.caller(), "automation", body)
        company.definitions.publish(company.caller(), draft.id)
        made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
        for total in (90000, 200000, 300000):
            version = stage.version_of(made.document_id)
            company.documents.mutate(
                company.caller(), Update(made.document_id, version, {"grand_total": total})
            )
        stage.drain()
        false = ("not_started", "CONDITION_FALSE")
        assert list_entries(stage, body["automation"]) == [false, ("started", None), false]
        (started,) = list_started(stage, body["automation"])
        assert started["status"] == "completed"
        (text,) = stage.standing.row("SELECT payload_json ->> 'text' FROM workflow_side_effects_outbox")
        assert text == "Look at invoice R-1"
