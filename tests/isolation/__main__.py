"""`make isolation`."""

from signet.api.application import make_resolver
from signet.api.openapi import make_openapi
from tests.isolation.matrix import list_operations
from tests.isolation.report import REPORT, write_report

REPORT.write_text(write_report(list(list_operations(make_openapi(*make_resolver())))), encoding="utf-8")
