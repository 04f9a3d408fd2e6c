"""A clock that the test moves."""


class Moved:
    """The seconds that a test has set."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds
