"""`make cost`: rewrites the tables of docs/cost.md that follow from its counts."""

from tests.cost.page import PAGE, renew

PAGE.write_text(renew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
