"""Ids of people, as the issuer's tokens name them."""

from typing import Annotated

from pydantic import AfterValidator, Field

from signet.core.tenants.principal import is_reserved


def _check_user_id(user_id: str) -> str:
    if not user_id.isprintable() or is_reserved(user_id):
        raise ValueError("wants a person's name, without the beginnings that machines have")
    return user_id


UserId = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_user_id)]
