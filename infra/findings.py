"""Accepted findings of cdk-nag and accepted warnings of CDK, each with its reason in words."""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def explain(construct: IConstruct, rule: str, reason: str) -> None:
    """Accept a finding. `rule` is without its family: `VPC7`, `IAM5[Resource::*]`."""
    explain_warning(construct, f"AwsSolutions-{rule}", reason)


def explain_warning(construct: IConstruct, name: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=name, reason=reason))
