"""Findings of cdk-nag that are as they should be. Each says why in words."""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def explain(construct: IConstruct, rule: str, reason: str) -> None:
    """`rule` without its family: `VPC7`, `IAM5[Resource::*]`."""
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions-{rule}", reason=reason))
