import pytest

from signet.engine.approvals.inbox import Approvals
from tests.engine.approvals.asked import Asking
from tests.engine.conftest import Company
from tests.engine.standing_company import Admin


@pytest.fixture
def asking(company: Company, admin: Admin) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made
