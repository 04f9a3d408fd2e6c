"""Service accounts as steps run as them: the reason why one cannot be used."""

UNUSABLE = "SERVICE_ACCOUNT_UNUSABLE"


def find_account_problem(
    account_id: str, status: str | None, owner_id: str | None, owner_status: str | None
) -> str | None:
    """Return why nothing can run as the account; its status is None if the tenant has none of that id."""
    if status is None:
        return f"the tenant has no service account '{account_id}'"
    if status != "active":
        return f"the service account '{account_id}' is disabled"
    if owner_status != "active":
        return f"{owner_id}, who owns the service account '{account_id}', is disabled"
    return None
