"""`make isolation`."""

from signet.api.openapi.build import describe_all
from tests.isolation.matrix import list_operations
from tests.isolation.report import REPORT, write_report

REPORT.write_text(write_report(list(list_operations(describe_all()[0]))), encoding="utf-8")
