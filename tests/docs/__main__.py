"""`make tables`: writes the generated tables of docs/ again."""

from tests.docs.tables import PAGES, renew

for page, tables in PAGES.items():
    page.write_text(renew(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
