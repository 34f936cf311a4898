"""opencode: `opencode run --format json`. Tried with 1.18.33.

The prompt goes to its standard input. It has no event for the end of all; a step that does not end
with calls of tools is the last one. What it may do is in settings that are given in a variable.
"""

import json
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
    only,
    options,
    with_text,
)
from siding.agents.settings import without_comments
from siding.ground.storage.fields import mapping, text, whole

_CONTENT = "OPENCODE_CONFIG_CONTENT"
_PERMISSIONS: Mapping[Level, Mapping[str, str]] = {
    Level.READ: {"edit": "deny", "bash": "deny"},
    Level.EDIT: {"edit": "allow"},
    Level.ALL: {"edit": "allow", "bash": "allow", "webfetch": "allow"},
}


class OpencodeHeadless:
    """opencode."""

    says_end = True
    has_answer = True

    def takes_schema(self, _schema: Mapping[str, Any], /) -> bool:
        return False

    def invoked(self, ask: Ask) -> Invocation:
        words = [
            *("run", "--format", "json"),
            *(("--auto",) if ask.level is Level.ALL else ()),
            *(("--model", ask.model) if ask.model else ()),
            *(("--variant", ask.effort) if ask.effort else ()),
            *(("--session", ask.session) if ask.session else ()),
        ]
        return Invocation(
            argv=(*ask.program, *words, *ask.options),
            stdin=with_text(ask),
            env={_CONTENT: json.dumps(_permitted(ask))},
            session=ask.session,
            left_out=("allowed_tools",) if ask.tools else (),
        )

    def stream(self, ask: Ask, /) -> Stream:
        return _Stream(ask.model)


HEADLESS: Headless = OpencodeHeadless()


def _permitted(ask: Ask) -> dict[str, Any]:
    """Return the settings in the variable, if they can be read, with what it may do here."""
    given = ask.env.get(_CONTENT, "")
    try:
        theirs = mapping(json.loads(without_comments(given))) if given.strip() else {}
    except ValueError:
        theirs = {}
    return {
        **theirs,
        "permission": {**mapping(theirs.get("permission")), **_PERMISSIONS[ask.level]},
    }


class _Stream(JsonLines):
    def __init__(self, model: str) -> None:
        super().__init__()
        self.seen = self.seen._replace(model=model)

    def on_event(self, event: Mapping[str, Any]) -> None:
        session = text(event.get("sessionID"))
        if session:
            self.seen = self.seen._replace(session=session)
        part = mapping(event.get("part"))
        match event.get("type"):
            case "step_start":
                self.seen = self.seen._replace(ended=False)
            case "text":
                words = text(part.get("text"))
                self.seen = self.seen._replace(text=words, says=shown(words))
            case "tool_use":
                state = mapping(part.get("state"))
                says = shown(f"{text(part.get('tool'))} {text(state.get('title'))}")
                self.seen = self.seen._replace(tools=self.seen.tools + 1, says=says)
            case "step_finish":
                self._step(part)
            case "error":
                self._error(mapping(event.get("error")))

    def _step(self, part: Mapping[str, Any]) -> None:
        tokens = mapping(part.get("tokens"))
        cache = mapping(tokens.get("cache"))
        cost = part.get("cost")
        seen = self.seen
        if isinstance(cost, int | float) and cost > 0:
            seen = seen._replace(dollars=(seen.dollars or 0.0) + cost)
        sent = (tokens.get("input"), cache.get("read"), cache.get("write"))
        self.seen = seen._replace(
            tokens=seen.tokens + whole(tokens.get("output")) + whole(tokens.get("reasoning")),
            input_tokens=seen.input_tokens + sum(map(whole, sent)),
            ended=part.get("reason") != "tool-calls",
        )

    def _error(self, error: Mapping[str, Any]) -> None:
        data = mapping(error.get("data"))
        message = text(data.get("message")) or text(error.get("name"))
        status = data.get("statusCode")
        found = fault_of(message, status if isinstance(status, int) else None)
        if found is Fault.OTHER and error.get("name") == "APIError":
            found = Fault.SERVER
        self.seen = self.seen._replace(ended=True, fault=found, error=message)


# -- A prompt once more ----------------------------------------------------------------------------

_FLAGS = Flags(
    frozenset({"run", "-c", "--continue", "--"}), frozenset({"-s", "--session", "--prompt"})
)
_EVERYWHERE = frozenset({"-m", "--model", "--agent"})


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    kept = options(asked, _FLAGS)
    if ("run" in asked.argv[1:]) != asked.alone:
        kept = only(kept, _EVERYWHERE)
    resume = ("--session", asked.session) if asked.session else ()
    if asked.alone:
        return (asked.argv[0], "run", *resume, *kept, "--", asked.prompt)
    return (asked.argv[0], *resume, *kept, f"--prompt={asked.prompt}")
