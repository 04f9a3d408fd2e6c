import pytest

from tests.support.http_client import Client
from tests.support.two_people import TwoPeople


@pytest.fixture
def two(client: Client) -> TwoPeople:
    """Return a tenant that wants two people, with paul and quinn, who may change the control."""
    made = TwoPeople(client)
    made.hire("paul")
    made.hire("quinn")
    made.switch_on()
    return made
