"""aider: one message from a file (`--message-file`). Read in 0.86.2.

It prints for people, ends with 0 whatever happened, and has no conversations to go on with; what it
changes it commits. Its answer is what it prints, without what it says of itself at the beginning.
"""

import re
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import PlainText, fault_of
from siding.agents.headless.port import (
    Ask,
    Fault,
    Headless,
    Invocation,
    Level,
    PromptAgain,
    Stream,
    with_text,
)

_MESSAGE = "message.md"
_OF_ITSELF = re.compile(
    r"^(Aider v|Main model:|Weak model:|Editor model:|Model:|Git repo:|Repo-map:"
    r"|Added .* to the chat|Warning:|Tokens:|Cost:|─+$|https://aider\.chat)"
)
_TOKENS = re.compile(r"Tokens: ([\d.]+)(k?|M?) sent.*?([\d.]+)(k?|M?) received", re.DOTALL)
_COST = re.compile(r"Cost: \$([\d.]+) message, \$([\d.]+) session")
_FAILED = re.compile(r"litellm\.(\w*(?:Error|Exceeded))[:,]?\s*(.*)")
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


class AiderHeadless:
    """aider."""

    says_end = False
    has_answer = True

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        dry = ask.level is Level.READ
        words = [
            *("--message-file", ask.file(_MESSAGE), "--yes-always", "--no-pretty", "--no-stream"),
            *("--no-check-update", "--no-show-release-notes", "--no-detect-urls"),
            *(("--dry-run", "--no-auto-commits") if dry else ()),
            *(("--no-suggest-shell-commands",) if ask.level is not Level.ALL else ()),
            *(("--model", ask.model) if ask.model else ()),
            *(("--reasoning-effort", ask.effort) if ask.effort else ()),
        ]
        given = {"allowed_tools": ask.tools, "session": ask.session}
        return Invocation(
            argv=(*ask.program, *words, *ask.options),
            files={_MESSAGE: with_text(ask)},
            left_out=tuple(name for name, value in given.items() if value),
        )

    def stream(self, ask: Ask, /) -> Stream:
        return _Stream(ask.model)


HEADLESS: Headless = AiderHeadless()


class _Stream(PlainText):
    def __init__(self, model: str) -> None:
        super().__init__()
        self.seen = self.seen._replace(model=model)

    def end(self) -> None:
        super().end()
        printed = self.seen.text
        for sent, sent_unit, received, unit in _TOKENS.findall(printed):
            self.seen = self.seen._replace(
                input_tokens=self.seen.input_tokens + _count(sent, sent_unit),
                tokens=self.seen.tokens + _count(received, unit),
            )
        costs = _COST.findall(printed)
        if costs:
            self.seen = self.seen._replace(dollars=float(costs[-1][1]))
        kept = [line for line in printed.splitlines() if not _OF_ITSELF.match(line)]
        self.seen = self.seen._replace(text="\n".join(kept).strip())
        failed = _FAILED.search(printed)
        if failed:
            error = f"{failed[1]}: {failed[2]}".strip(": ")
            found = fault_of(error)
            fault = Fault.SERVER if found is Fault.OTHER else found
            self.seen = self.seen._replace(fault=fault, error=error)


def _count(number: str, unit: str) -> int:
    return round(float(number) * _UNITS[unit])


# -- A prompt once more ----------------------------------------------------------------------------


def again(_asked: PromptAgain) -> tuple[str, ...]:
    """Return (): it has no conversation by an id, and so none to give a prompt in."""
    return ()
