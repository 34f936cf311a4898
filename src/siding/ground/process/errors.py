"""Errors of helper commands, apart from their exit status."""

from siding.ground.errors import SidingError


class CannotStart(SidingError):
    """The program could not be started at all."""

    code = "cannot_start"


class TimedOut(SidingError):
    """The helper command ran past its timeout; its process group has been ended."""

    code = "timed_out"


class OutputTooLarge(SidingError):
    """The helper command printed more than `max_output`; its process group has been ended."""

    code = "output_too_large"
