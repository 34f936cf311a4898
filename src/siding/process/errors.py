"""What can go wrong with a helper command, apart from its own exit status."""

from siding.errors import SidingError


class CannotStart(SidingError):
    """The program could not be started at all."""

    code = "cannot_start"


class TimedOut(SidingError):
    """The helper command took longer than it was given; it and its group were ended."""

    code = "timed_out"


class OutputTooLarge(SidingError):
    """The helper command printed more than the caller can hold; it and its group were ended."""

    code = "output_too_large"
