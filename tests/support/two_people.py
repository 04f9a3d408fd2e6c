"""A tenant that wants two people for each change of the control, its people, and their keys."""

from dataclasses import dataclass, field
from typing import Any

from tests.support.http_client import Client, ClientAnswer

# What people who change the control may do; nobody of them approves anything.
CONTROL = ["contract:*", "definition:*", "approval:manage", "endpoint:*", "inbound_endpoint:*", "rule:*"]


@dataclass
class TwoPeople:
    """People who may change the control, hired by the tenant's administrator."""

    admin: Client
    people: dict[str, Client] = field(default_factory=dict)

    def hire(self, name: str, *permissions: str) -> Client:
        """Hire a person with a role of their own."""
        role, wanted = f"{name}_role", list(permissions or (*CONTROL, "tenant:*", "api_key:*"))
        assert self.admin.put(f"/v1/roles/{role}", {"permissions": wanted}).status in (200, 201)
        member = {"display_name": name.title(), "roles": [role]}
        assert self.admin.put(f"/v1/members/{name}", member).status in (200, 201)
        self.people[name] = Client(self.admin.application, self.admin.tenant_id, name, (role,))
        return self.people[name]

    def make_key(self, person: Client) -> Client:
        """Make a key of the person, who stands behind everything that it does."""
        made = person.post("/v1/api_keys", {"name": f"{person.subject}_key", "roles": list(person.roles)})
        assert made.status == 201, made.text
        return Client(person.application, person.tenant_id, key=made.body["token"])

    def share_key(self, maker: Client, owner: Client) -> Client:
        """Make a key that its maker hands over: both stand behind everything that it does."""
        made = maker.post("/v1/api_keys", {"name": "shared", "roles": list(maker.roles)})
        place = f"/v1/api_keys/{made.body['id']}"
        assert maker.post(f"{place}/owner", {"owner_id": owner.subject}).status == 200
        assert owner.post(f"{place}/owner/accept").status == 200
        return Client(maker.application, maker.tenant_id, key=made.body["token"])

    def switch_on(self) -> None:
        etag = self.admin.get("/v1/tenant").headers["etag"]
        changed = self.admin.patch("/v1/tenant", {"four_eyes": True}, if_match=etag)
        assert (changed.status, changed.body["settings"]["four_eyes"]) == (200, True)


def put_forward(author: Client, place: str, etag: str | None = None) -> tuple[str, str]:
    """Have an author put a draft forward; return its place and its ETag."""
    answer = author.post(f"{place}/put_forward", **({"if_match": etag} if etag else {}))
    assert answer.status == 200, answer.text
    return place, etag or '"1"'


def confirm(person: Client, proposed: ClientAnswer | str, digest: str | None = None) -> ClientAnswer:
    """Confirm what was proposed, with the hash that the change shows."""
    place = proposed if isinstance(proposed, str) else proposed.headers["location"]
    body: dict[str, Any] = {"hash": digest or person.get(place).body.get("hash", "0" * 64)}
    return person.post(f"{place}/confirm", body)
