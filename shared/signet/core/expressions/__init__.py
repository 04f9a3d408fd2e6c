"""The expression language: parse, check against a scope, keep as JSON, compile to closures.

An author's text goes through `parse_expression` and `check` or `check_condition`. The artifact holds it as
JSON, by `expression_to_json`. The engine reads it by `expression_from_json` and `compile_expression`.
Templates have functions of the same names.

>>> scope = Scope({"entity": object_of({"total": INT})})
>>> condition = parse_expression("entity.total > 1000")
>>> check_condition(condition, scope)
()
>>> compile_expression(condition).value({"entity": {"total": 1500}})
True
"""

from signet.core.expressions.errors import ExpressionError
from signet.core.expressions.evaluate import Compiled, Evaluation, compile_expression
from signet.core.expressions.fast_comparison import Environment
from signet.core.expressions.ranges import RangeFinding, RangeFindingKind, find_gaps_and_overlaps
from signet.core.expressions.render import compile_template
from signet.core.expressions.syntax import parse_expression
from signet.core.expressions.syntax_tree import Expression, list_variables
from signet.core.expressions.template import Template, list_template_parts, parse_template
from signet.core.expressions.template_json import template_from_json, template_to_json
from signet.core.expressions.text import to_text
from signet.core.expressions.tree_json import MalformedTree, expression_from_json, expression_to_json
from signet.core.expressions.type_check import check, check_condition, list_followed_fields
from signet.core.expressions.types import (
    ANY,
    BOOL,
    DATE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    FollowedField,
    Scope,
    Type,
    TypeKind,
    enum_of,
    list_names,
    list_of,
    object_of,
    ref_to,
)

__all__ = [
    "ANY",
    "BOOL",
    "DATE",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "Compiled",
    "Environment",
    "Evaluation",
    "Expression",
    "ExpressionError",
    "FollowedField",
    "MalformedTree",
    "RangeFinding",
    "RangeFindingKind",
    "Scope",
    "Template",
    "Type",
    "TypeKind",
    "check",
    "check_condition",
    "compile_expression",
    "compile_template",
    "enum_of",
    "expression_from_json",
    "expression_to_json",
    "find_gaps_and_overlaps",
    "list_followed_fields",
    "list_names",
    "list_of",
    "list_template_parts",
    "list_variables",
    "object_of",
    "parse_expression",
    "parse_template",
    "ref_to",
    "template_from_json",
    "template_to_json",
    "to_text",
]
