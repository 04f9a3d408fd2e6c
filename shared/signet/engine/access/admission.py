"""Admission of callers: their tenant must be active, and they must not be a disabled member of it.

It is checked when a token or a key is verified, and then remembered for a while. Use cases read their tenant
again, so they are more exact; this check is for all of them alike.
"""

from dataclasses import dataclass

from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.core.tenants.skeleton import list_readings
from signet.store.database import Database
from signet.store.tenants.admission import read_admission


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    database: Database

    def check(self, principal: Principal) -> None:
        if principal.is_operator:
            return
        # The names of keys are no names of people, and look like none.
        readings = () if principal.is_key else list_readings(principal.subject)
        with self.database.transaction(principal.tenant_id) as connection:
            admission = read_admission(connection, principal.tenant_id, principal.subject, readings)
        if admission is None or admission.tenant_status != "active":
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        if admission.member_status == "disabled":
            raise Rejected("MEMBER_INACTIVE", f"{principal.subject} is disabled in this tenant")
        if admission.look_alike is not None:
            raise Rejected(
                "TOKEN_SUBJECT_LOOKS_ALIKE",
                f"the token names '{principal.subject}', who looks like the member '{admission.look_alike}'",
                remedy="Have the issuer name the person exactly as the tenant does.",
            )
