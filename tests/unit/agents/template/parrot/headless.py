"""Parrot: one prompt (`parrot --once`), on its standard input. It prints events."""

from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import EventLines
from siding.agents.headless.port import (
    Ask,
    Flags,
    Headless,
    Invocation,
    PromptAgain,
    Stream,
    options,
    with_text,
)


class ParrotHeadless:
    """Parrot."""

    says_end = True
    has_answer = True

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        resume = ("--resume", ask.session) if ask.session else ()
        left_out = ("effort",) if ask.effort else ()
        argv = (*ask.program, "--once", *resume, *ask.options)
        return Invocation(argv=argv, stdin=with_text(ask), session=ask.session, left_out=left_out)

    def stream(self, ask: Ask, /) -> Stream:
        return EventLines(model=ask.model)


HEADLESS: Headless = ParrotHeadless()


# -- A prompt once more ----------------------------------------------------------------------------

_FLAGS = Flags(frozenset({"--once", "--"}), frozenset({"--resume"}))


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    once = ("--once",) if asked.alone else ()
    return (asked.argv[0], *once, *resume, *options(asked, _FLAGS), "--", asked.prompt)
