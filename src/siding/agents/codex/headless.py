"""The Codex CLI: `codex exec --json`. Tried with 0.169.0.

The prompt goes to its standard input (`-`). An object by a schema is asked of the model's server
(`--output-schema`), which takes strict schemas alone. Its sums are those of the whole conversation,
so of one that is gone on with they say nothing about this run.
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
)
from siding.ground.storage.fields import mapping, mappings, text, whole

_SANDBOXES = {
    Level.READ: "read-only",
    Level.EDIT: "workspace-write",
    Level.ALL: "danger-full-access",
}
_SCHEMA = "schema.json"
_SAY_BEGIN = frozenset({"command_execution", "mcp_tool_call"})  # the others are only told of after
_TOOLS = _SAY_BEGIN | {"file_change", "web_search"}
_KEYWORDS = frozenset(
    """
    $defs $ref additionalProperties anyOf const description enum items properties required title
    type maximum minimum maxItems minItems pattern format
    """.split()
)


class CodexHeadless:
    """Codex."""

    says_end = True
    has_answer = True

    def takes_schema(self, schema: Mapping[str, Any], /) -> bool:
        return schema.get("type") == "object" and _is_strict(schema)

    def invoked(self, ask: Ask) -> Invocation:
        settings = [
            *([f"model_reasoning_effort={json.dumps(ask.effort)}"] if ask.effort else []),
            *([f"developer_instructions={json.dumps(ask.text)}"] if ask.text else []),
        ]
        words = [
            *("exec", "--json", "-s", _SANDBOXES[ask.level]),
            *(("-m", ask.model) if ask.model else ()),
            *(word for setting in settings for word in ("-c", setting)),
            *(("--output-schema", ask.file(_SCHEMA)) if ask.schema is not None else ()),
            *ask.options,
            *(("resume", ask.session) if ask.session else ()),
            "-",
        ]
        return Invocation(
            argv=(*ask.program, *words),
            stdin=ask.prompt,
            files={} if ask.schema is None else {_SCHEMA: json.dumps(ask.schema)},
            session=ask.session,
            left_out=("allowed_tools",) if ask.tools else (),
        )

    def stream(self, ask: Ask, /) -> Stream:
        return _Stream(goes_on=bool(ask.session), model=ask.model)


HEADLESS: Headless = CodexHeadless()


class _Stream(JsonLines):
    def __init__(self, *, goes_on: bool, model: str) -> None:
        super().__init__()
        self._goes_on = goes_on
        self.seen = self.seen._replace(model=model)

    def on_event(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "thread.started":
                self.seen = self.seen._replace(session=text(event.get("thread_id")))
            case "item.started" | "item.completed" as moment:
                self._item(mapping(event.get("item")), is_over=moment == "item.completed")
            case "turn.completed":
                self._turn(mapping(event.get("usage")))
            case "turn.failed":
                message = text(mapping(event.get("error")).get("message"))
                self.seen = self.seen._replace(
                    ended=True, fault=_fault(message), error=readable(message)
                )
            case "error":
                self.seen = self.seen._replace(says=shown(readable(text(event.get("message")))))

    def _item(self, item: Mapping[str, Any], *, is_over: bool) -> None:
        kind = text(item.get("type"))
        if kind == "agent_message":
            words = text(item.get("text"))
            self.seen = self.seen._replace(text=words, says=shown(words))
        elif kind in _TOOLS and is_over != (kind in _SAY_BEGIN):
            says = shown(
                f"{kind.replace('_', ' ')} {text(item.get('command') or item.get('tool'))}"
            )
            self.seen = self.seen._replace(tools=self.seen.tools + 1, says=says)

    def _turn(self, usage: Mapping[str, Any]) -> None:
        self.seen = self.seen._replace(ended=True)
        if not self._goes_on:
            self.seen = self.seen._replace(
                tokens=whole(usage.get("output_tokens")),
                input_tokens=whole(usage.get("input_tokens")),
            )


def _fault(message: str) -> Fault:
    found = fault_of(message)
    return Fault.SERVER if found is Fault.OTHER else found


def readable(message: str) -> str:
    """Return what a message says; it may be the JSON that the model's server has sent."""
    try:
        sent = json.loads(message)
    except ValueError:
        return message
    return text(mapping(mapping(sent).get("error")).get("message")) or message


def _is_strict(schema: Mapping[str, Any]) -> bool:
    """Tell whether all objects of a schema have all of their properties, and no others."""
    properties = mapping(schema.get("properties"))
    if "properties" in schema or schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return False
        required = schema.get("required")
        if set(required if isinstance(required, list) else ()) != set(properties):
            return False
    below = [*properties.values(), *mapping(schema.get("$defs")).values(), schema.get("items")]
    below += mappings(schema.get("anyOf"))
    if not _KEYWORDS.issuperset(schema):
        return False
    return all(_is_strict(mapping(each)) for each in below if each is not None)


# -- A prompt once more ----------------------------------------------------------------------------

_VERBS = frozenset({"exec", "e", "resume", "--last", "--", "-"})
_EVERYWHERE = frozenset(
    {"-c", "--config", "-m", "--model", "-s", "--sandbox", "-p", "--profile"}
    | {"--enable", "--disable"}
)


def again(asked: PromptAgain) -> tuple[str, ...]:
    """Return the command line that gives it a prompt once more."""
    words = asked.argv[1:]
    named = words[words.index("resume") + 1 :][:1] if "resume" in words else ()
    was_alone = any(word in ("exec", "e") for word in words)
    kept = tuple(word for word in options(asked, Flags(_VERBS)) if not named or word != named[0])
    if was_alone != asked.alone:
        kept = only(kept, _EVERYWHERE)
    alone = ("exec",) if asked.alone else ()
    resume = ("resume", asked.session) if asked.session else ()
    return (asked.argv[0], *alone, *kept, *resume, "--", asked.prompt)
