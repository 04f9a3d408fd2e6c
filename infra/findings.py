"""Findings of cdk-nag, and warnings of CDK, about what is as it should be. Each says why in words."""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def explain(construct: IConstruct, rule: str, reason: str) -> None:
    """`rule` without its family: `VPC7`, `IAM5[Resource::*]`."""
    explain_warning(construct, f"AwsSolutions-{rule}", reason)


def explain_warning(construct: IConstruct, name: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=name, reason=reason))
