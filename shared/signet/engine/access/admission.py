"""Whether somebody is let in at all: his tenant is active, and he is no member who is disabled.

Asked when a token or a key is verified, and not again as long as that is remembered. What a use case reads
of its tenant is more exact; this is for all of them alike.
"""

from dataclasses import dataclass

from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.store.database import Database
from signet.store.tenants.admission import read_admission


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    database: Database

    def check(self, principal: Principal) -> None:
        if principal.is_operator:
            return
        with self.database.transaction(principal.tenant_id) as connection:
            found = read_admission(connection, principal.tenant_id, principal.subject)
        if found is None or found.tenant_status != "active":
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        if found.member_status == "disabled":
            raise Rejected("MEMBER_INACTIVE", f"{principal.subject} is disabled in this tenant")
