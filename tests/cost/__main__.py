"""`make cost`: rewrites what follows from the counts that docs/cost.md states."""

from tests.cost.page import PAGE, renew

PAGE.write_text(renew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
