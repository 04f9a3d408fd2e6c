"""A change of what holds an instance or one of its tokens, for the record of its incidents."""

from dataclasses import dataclass

from signet.core.runtime.position import Token, find_code
from signet.core.runtime.projection import Step


@dataclass(frozen=True, slots=True)
class HoldChange:
    """A hold that a step has made, or ended. Without a token it is a pause of the whole by the engine."""

    token: Token | None
    step: Step
    is_new: bool

    @property
    def reason(self) -> str:
        """Return the reason: that of the token's hold, else that of the pause."""
        if self.token is not None and self.token.hold is not None:
            return self.token.hold.reason
        return str(self.step.data.get("reason", ""))

    @property
    def code(self) -> str | None:
        """Return the code of the token's hold, else that of the pause."""
        if self.token is not None and self.token.hold is not None:
            return self.token.hold.code
        return find_code(self.reason, self.step.data)
