"""The Gemini CLI with a stream of JSON (`-o stream-json`). Tried with 0.61.0.

The prompt goes to its standard input. Its exit status is worth little: ended by a signal it may
say 0. It takes no effort and no text beside the prompt.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import JsonLines, fault_of, shown
from siding.agents.headless.port import (
    Ask,
    Fault,
    Flags,
    Headless,
    Invocation,
    Level,
    PromptAgain,
    Stream,
    options,
    with_text,
)
from siding.ground.storage.fields import mapping, text, whole

_MODES = {Level.READ: "default", Level.EDIT: "auto_edit", Level.ALL: "yolo"}


class GeminiHeadless:
    """The Gemini CLI."""

    says_end = True
    has_answer = True

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        words = [
            # Without a person it ends at once in a directory that nobody has trusted.
            *("-o", "stream-json", "--skip-trust", "--approval-mode", _MODES[ask.level]),
            *(("-m", ask.model) if ask.model else ()),
            *(("--allowed-tools", ",".join(ask.tools)) if ask.tools else ()),
        ]
        if ask.session:
            words += ["--resume", ask.session]
        elif ask.new_session:
            words += ["--session-id", ask.new_session]
        return Invocation(
            argv=(*ask.program, *words, *ask.options),
            stdin=with_text(ask),
            session=ask.session or ask.new_session,
            left_out=("effort",) if ask.effort else (),
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return _Stream()


HEADLESS: Headless = GeminiHeadless()


class _Stream(JsonLines):
    """What it says between two tools comes in pieces; the last message is what follows the last."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []

    def on_event(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "init":
                self.seen = self.seen._replace(
                    session=text(event.get("session_id")), model=text(event.get("model"))
                )
            case "message" if event.get("role") == "assistant":
                self._pieces.append(text(event.get("content")))
                said = "".join(self._pieces)
                self.seen = self.seen._replace(text=said, says=shown(said[-400:]))
            case "tool_use":
                self._pieces = []
                given = mapping(event.get("parameters"))
                about = given.get("command") or given.get("file_path") or given.get("path")
                says = shown(f"{text(event.get('tool_name'))} {text(about)}")
                self.seen = self.seen._replace(tools=self.seen.tools + 1, says=says)
            case "result":
                self._result(event)

    def _result(self, event: Mapping[str, Any]) -> None:
        stats = mapping(event.get("stats"))
        self.seen = self.seen._replace(
            ended=True,
            tokens=whole(stats.get("output_tokens")),
            input_tokens=whole(stats.get("input_tokens")),
        )
        if event.get("status") != "success":
            error = text(mapping(event.get("error")).get("message")) or "it gives no reason"
            found = fault_of(error)
            fault = Fault.SERVER if found is Fault.OTHER and "API Error" in error else found
            self.seen = self.seen._replace(fault=fault, error=error)


# -- A prompt once more ----------------------------------------------------------------------------

_FLAGS = Flags(
    frozenset({"--"}),
    frozenset({"-p", "--prompt", "-i", "--prompt-interactive", "-r", "--resume", "--session-id"}),
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    flag = "--prompt" if asked.alone else "--prompt-interactive"
    return (asked.argv[0], *options(asked, _FLAGS), *resume, f"{flag}={asked.prompt}")
