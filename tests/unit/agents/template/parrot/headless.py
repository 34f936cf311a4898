"""Parrot: one prompt (`parrot --once`), on its standard input. It prints events."""

from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import EventLines
from siding.agents.headless.port import Ask, Headless, Invocation, Stream, with_text


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
