"""Claude Code: `claude -p` with a stream of JSON. Tried with 2.1.197 and 2.1.329.

It has an object by a schema handed over by a tool of its own (`--json-schema`), and is not done
until the object fits. The prompt goes to its standard input.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.output import JsonLines, fault_of, shown
from siding.agents.headless.port import Ask, Fault, Headless, Invocation, Level, Stream
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

_EDITS = "Edit,MultiEdit,Write,NotebookEdit"
# `--dangerously-skip-permissions` is refused to root, so what it allows is named instead.
_ALL = f"Bash,BashOutput,KillShell,{_EDITS},Read,Glob,Grep,WebFetch,WebSearch,Task,Skill,TodoWrite"
# `default` is called `manual` in the help of newer versions, and taken by all.
_MODES = {Level.READ: "default", Level.EDIT: "acceptEdits", Level.ALL: "acceptEdits"}
_RETRIES = "CLAUDE_CODE_MAX_RETRIES"  # ten of its own take minutes, also for a key that is refused
_MONEY, _TURNS = "error_max_budget_usd", "error_max_turns"


class ClaudeHeadless:
    """Claude Code, and what takes its options: `modes` and `everything` say what a level allows.

    `retries` is the variable that has how often a request is made again.
    """

    says_end = True
    has_answer = True
    modes: Mapping[Level, str] = _MODES
    everything = _ALL
    retries = _RETRIES

    def takes_schema(self, schema: Mapping[str, Any], /) -> bool:
        return schema.get("type") == "object"

    def invoked(self, ask: Ask) -> Invocation:
        tools = [*ask.tools, *([self.everything] if ask.level is Level.ALL else [])]
        words = [
            *("-p", "--output-format", "stream-json", "--verbose"),
            *("--permission-mode", self.modes[ask.level]),
            *(("--allowedTools", ",".join(tools)) if tools else ()),
            *(("--disallowedTools", _EDITS) if ask.level is Level.READ else ()),
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
        return ClaudeStream()


HEADLESS: Headless = ClaudeHeadless()


class ClaudeStream(JsonLines):
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


_ABOUT = ("command", "file_path", "pattern", "path", "url", "query", "description", "prompt")
