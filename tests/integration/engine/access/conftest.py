"""Approval requests that a command line must not decide."""

import pytest

from signet.engine.approvals.inbox import Approvals
from tests.support.approval_requests import Asking
from tests.support.company import Company
from tests.support.shared_company import Admin


@pytest.fixture
def asking(company: Company, admin: Admin) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made
