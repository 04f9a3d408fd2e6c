"""The mask that stands in place of a personal value."""

from signet.core.contracts.fields import Fields, ObjectField, StringField
from signet.core.documents.personal_data import mask_fields, mask_said, mask_text

FIELDS: Fields = {
    "name": StringField(type="string", personal=True),
    "number": StringField(type="string"),
    "home": ObjectField(
        type="object",
        personal=True,
        fields={
            "city": StringField(type="string"),
            "door": ObjectField(type="object", fields={"bell": StringField(type="string")}),
        },
    ),
}


def test_every_personal_field_is_masked_whether_it_has_a_value_or_not() -> None:
    masked = {"name": "(personal)", "home": {"city": "(personal)", "door": {"bell": "(personal)"}}}
    assert mask_fields(FIELDS, {"number": "R-1", "name": "Erna"}) == {"number": "R-1", **masked}
    assert mask_fields(FIELDS, {}) == masked


def test_a_text_repeats_no_personal_value() -> None:
    values = ["Erna", {"city": "Ernastadt", "doors": [{"bell": "E."}, 17], "is_let": True}, None, ""]
    text = "Erna of Ernastadt (E.) rang at 17: True"
    assert mask_text(text, values) == "(personal) of (personal) ((personal)) rang at (personal): True"
    assert mask_text(text, [None, {}]) == text


def test_what_a_template_came_to_repeats_no_personal_value() -> None:
    values = ["Erna", {"door": 17}]
    said = {"to": ["Call Erna", 17, 18], "is_known": True, "none": None, "rate": 1.5, "text": "door 17"}
    assert mask_said(said, values) == {
        "to": ["Call (personal)", "(personal)", 18],
        "is_known": True,
        "none": None,
        "rate": 1.5,
        "text": "door (personal)",
    }
