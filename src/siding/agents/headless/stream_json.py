"""The command line with a stream of JSON that Claude Code has, and Siding's own agent as well.

An object by a schema is handed over by a tool of the agent's (`--json-schema`), and the agent is
not done until the object fits. The prompt goes to its standard input.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import JsonLines, fault_of, shown
from siding.agents.headless.port import (
    Ask,
    Fault,
    Flags,
    Invocation,
    Level,
    PromptAgain,
    Stream,
    options,
)
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

EDITS = "Edit,MultiEdit,Write,NotebookEdit"
_ABOUT = ("command", "file_path", "pattern", "path", "url", "query", "description", "prompt")
_MONEY, _TURNS = "error_max_budget_usd", "error_max_turns"


class StreamJsonHeadless:
    """One agent: `modes`, and `everything` beside the last one, say what a level allows.

    `retries` is the variable that has how often a request is made again.
    """

    says_end = True
    has_answer = True
    modes: Mapping[Level, str]
    everything: str
    retries: str

    def takes_schema(self, schema: Mapping[str, Any], /) -> bool:
        return schema.get("type") == "object"

    def invoked(self, ask: Ask) -> Invocation:
        tools = [*ask.tools, *([self.everything] if ask.level is Level.ALL else [])]
        words = [
            *("-p", "--output-format", "stream-json", "--verbose"),
            *("--permission-mode", self.modes[ask.level]),
            *(("--allowedTools", ",".join(tools)) if tools else ()),
            *(("--disallowedTools", EDITS) if ask.level is Level.READ else ()),
            # In one word: a text may begin with a dash.
            *((f"--model={ask.model}",) if ask.model else ()),
            *((f"--effort={ask.effort}",) if ask.effort else ()),
            *((f"--append-system-prompt={ask.text}",) if ask.text else ()),
            *(("--json-schema", json.dumps(ask.schema)) if ask.schema is not None else ()),
        ]
        if ask.session:
            words.append(f"--resume={ask.session}")
        elif ask.new_session:
            words.append(f"--session-id={ask.new_session}")
        return Invocation(
            argv=(*ask.program, *words, *ask.options),
            stdin=ask.prompt,
            env={} if self.retries in ask.env else {self.retries: "3"},
            session=ask.session or ask.new_session,
        )

    def stream(self, _ask: Ask, /) -> Stream:
        return StreamJson()


class StreamJson(JsonLines):
    """A message of the model is several lines with the same id, which all have its whole usage."""

    def __init__(self) -> None:
        super().__init__()
        self._by_message: dict[str, tuple[int, int]] = {}

    def on_event(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self.seen = self.seen._replace(
                    session=text(event.get("session_id")), model=text(event.get("model"))
                )
            case "system" if event.get("subtype") == "api_retry":
                why = text(event.get("error")) or text(event.get("error_status"))
                self.seen = self.seen._replace(says=f"the model's server: {why}; it tries again")
            case "assistant":
                self._message(event)
            case "result":
                self._result(event)

    def _message(self, event: Mapping[str, Any]) -> None:
        message = mapping(event.get("message"))
        usage = mapping(message.get("usage"))
        self._by_message[text(message.get("id"))] = (
            whole(usage.get("output_tokens")),
            _sent(usage),
        )
        seen = self.seen._replace(
            tokens=sum(tokens for tokens, _sent in self._by_message.values()),
            input_tokens=sum(sent for _tokens, sent in self._by_message.values()),
        )
        for block in mappings(message.get("content")):
            if block.get("type") == "tool_use":
                seen = seen._replace(tools=seen.tools + 1, says=_tool_words(block))
            elif block.get("type") == "text" and text(block.get("text")).strip():
                words = text(block.get("text"))
                seen = seen._replace(says=shown(words))
                if event.get("parent_tool_use_id") is None:
                    seen = seen._replace(text=words)
        self.seen = seen

    def _result(self, event: Mapping[str, Any]) -> None:
        denied = mappings(event.get("permission_denials"))
        seen = self.seen._replace(
            text=text(event.get("result")) or self.seen.text,
            result=event.get("structured_output"),
            session=text(event.get("session_id")) or self.seen.session,
            denied=tuple(dict.fromkeys(text(each.get("tool_name")) for each in denied)),
            ended=True,
        )
        self.seen = _with_usage(seen, event)
        kind = text(event.get("subtype"))
        if event.get("is_error") is True or kind != "success":
            errors = "; ".join(strings(event.get("errors")))
            error = errors or text(event.get("result")) or kind
            status = event.get("api_error_status")
            fault = fault_of(error, status if isinstance(status, int) else None)
            if kind in (_MONEY, _TURNS):
                fault = Fault.LIMIT
            self.seen = self.seen._replace(fault=fault, error=error)


def _with_usage(seen: Any, event: Mapping[str, Any]) -> Any:
    """Return what was seen with the sums of this run: other sums are those of the conversation."""
    since = [mapping(each) for each in mapping(event.get("model_usage_since_last_result")).values()]
    if not since:
        return seen
    costs = [each["costUSD"] for each in since if isinstance(each.get("costUSD"), int | float)]
    parts = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return seen._replace(
        tokens=sum(whole(each.get("outputTokens")) for each in since),
        input_tokens=sum(whole(each.get(part)) for each in since for part in parts),
        dollars=sum(costs) if costs else None,
    )


def _sent(usage: Mapping[str, Any]) -> int:
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(whole(usage.get(part)) for part in parts)


def _tool_words(block: Mapping[str, Any]) -> str:
    given = mapping(block.get("input"))
    about = next((text(given[key]) for key in _ABOUT if given.get(key)), "")
    return shown(f"{text(block.get('name'))} {about}")


# -- A prompt once more ----------------------------------------------------------------------------

_FLAGS = Flags(
    frozenset({"-p", "--print", "-c", "--continue", "--fork-session", "--"}),
    frozenset({"-r", "--resume", "--session-id"}),
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    resume = ("--resume", asked.session) if asked.session else ()
    alone = ("-p",) if asked.alone else ()
    # An option may take several words: `--` ends them.
    return (asked.argv[0], *alone, *resume, *options(asked, _FLAGS), "--", asked.prompt)
