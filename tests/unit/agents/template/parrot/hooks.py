"""Parrot: how it reports. It takes plain words, and is told where to by a variable."""

from siding.agents.hooks import Adapter, Injection, Reach
from siding.agents.plain_words import Plain


class Parrot(Plain):
    """The adapter of Parrot."""

    def injected(self, argv: tuple[str, ...], reach: Reach, /) -> Injection:
        if "--version" in argv:
            return Injection(argv, why_not="it begins no conversation")
        return Injection(argv, env={"PARROT_REPORTS_TO": " ".join(reach.program)})


ADAPTER: Adapter = Parrot()
