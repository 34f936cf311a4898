"""Point Parrot at another base URL: it takes one from a flag alone."""

from collections.abc import Mapping

from siding.agents.wire import Point, Pointed, Read


def pointed(argv: tuple[str, ...], env: Mapping[str, str], point: Point, read: Read) -> Pointed:
    """Return how it is started so that its requests go where `point` says."""
    del env, read
    flag = ("--base-url", point("https://api.parrot.example"))
    return Pointed((argv[0], *flag, *argv[1:]), {})
