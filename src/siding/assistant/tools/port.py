"""What a tool is, the values it takes and gives, and how its specification is made.

A failure is a result, not an exception: the model reads it and goes on. A tool raises only when
Siding itself has a mistake, and `asyncio.CancelledError`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import ToolUse

Block = Mapping[str, Any]  # a block of content as Anthropic's API has it: `text`, `image`, …
Field = Mapping[str, Any]
_SECOND_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHOWN = 200  # characters of a value that does not fit
_MOST_PROBLEMS = 5
_INVALID = "_invalid"  # the field of an input that was no JSON object: see `assistant.loop.model`


class ToolSpec(NamedTuple):
    """What a model is told of a tool. `schema` is a JSON schema of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Call(NamedTuple):
    """One call of a tool by a model. `id` is the model's own; `given` fits no schema for sure."""

    id: str
    name: str
    given: Mapping[str, Any]


class Use(NamedTuple):
    """What one call is about to do, for rules, for the policy and for a person to read.

    `pattern` is what a rule such as ``Bash(git commit:*)`` or ``Read(src/**)`` is compared with:
    the command, the path from the workspace, the host of an address. "" has no pattern.

    `in_conversation`: what the call changes is the conversation and the record of its task. Such
    calls wait for each other, so they are not safe, and yet nobody has to be asked about them.
    """

    pattern: str = ""
    command: str = ""  # of a shell
    touches: ToolUse | None = None  # of files and addresses
    text: str = ""  # in one line: ``Edit src/app.py``
    in_conversation: bool = False


class Result(NamedTuple):
    """How a call ended. `content` is for the model, `shown` and `details` for people and programs.

    `details` is what Claude Code's transcripts have as ``toolUseResult``.
    """

    content: str | tuple[Block, ...]
    is_error: bool = False
    shown: str = ""  # in one line: ``42 lines``
    details: Mapping[str, Any] = {}


class Progress(NamedTuple):
    """What a call that is still under way says."""

    call: str
    text: str


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        ...

    def is_safe(self, given: Mapping[str, Any], /) -> bool:
        """Tell whether the call changes nothing: it may run beside others, and again."""
        ...

    def use(self, given: Mapping[str, Any], /) -> Use:
        """Return what the call is about to do. `given` has been checked against the schema."""
        ...

    async def run(self, call: Call) -> Result:
        """Do it. Cancelled, it ends what it has started before the error goes on.

        `call.given` has been checked against the schema, and the call has been allowed.
        """
        ...


# -- The specification of a tool -------------------------------------------------------------------


def spec_of(module: str, name: str, fields: Mapping[str, Field], *required: str) -> ToolSpec:
    """Return the specification of a tool.

    Its description is a file beside its module with its name: TodoWrite has ``todo_write.md``.
    """
    file = _SECOND_WORD.sub("_", name).lower() + ".md"
    description = Path(module).with_name(file).read_text("utf-8").strip()
    return ToolSpec(name, description, _object(fields, *required))


def _object(fields: Mapping[str, Field], *required: str) -> Field:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, **more: Any) -> Field:
    """Return the schema of a text."""
    return {"type": "string", "description": description, **more}


def number(description: str, **more: Any) -> Field:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, **more}


def flag(description: str) -> Field:
    """Return the schema of true or false."""
    return {"type": "boolean", "description": description}


def choice(description: str, *choices: str) -> Field:
    """Return the schema of one of a few texts."""
    return {"type": "string", "enum": list(choices), "description": description}


def several(description: str, item: Field, **more: Any) -> Field:
    """Return the schema of a list."""
    return {"type": "array", "items": item, "description": description, **more}


def part(fields: Mapping[str, Field], *required: str) -> Field:
    """Return the schema of an object inside another one."""
    return _object(fields, *required)


def failed(message: str, shown: str = "") -> Result:
    """Return the result of a call that could not be done."""
    return Result(message, is_error=True, shown=shown or message.partition("\n")[0][:120])


# -- Checking a call's input against the schema of its tool ----------------------------------------


def checked(spec: ToolSpec, given: Mapping[str, Any]) -> Result | None:
    """Return None if the input fits the schema, else the result that tells the model what does not.

    Each problem names the field, what is wrong and what is expected.
    """
    if _INVALID in given and _INVALID not in spec.schema.get("properties", {}):
        text = str(given[_INVALID])
        return _failed(spec, [f"it is not a JSON object: {_short(text)}"])
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(spec.schema).iter_errors(given)
    problems = [_sentence(error) for error in sorted(errors, key=lambda each: list(each.path))]
    return _failed(spec, list(dict.fromkeys(problems))) if problems else None


def _failed(spec: ToolSpec, problems: list[str]) -> Result:
    shown = problems[:_MOST_PROBLEMS]
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more problems")
    text = f"The input of {spec.name} does not fit; nothing was done.\n" + "\n".join(
        f"- {each}" for each in shown
    )
    return Result(f"{text}\n{_expected(spec)}", is_error=True, shown="input does not fit")


def _expected(spec: ToolSpec) -> str:
    required = set(spec.schema.get("required", ()))
    fields = [
        f"{name} ({_kind(field)}{'' if name in required else ', optional'})"
        for name, field in spec.schema.get("properties", {}).items()
    ]
    return f"Fields: {', '.join(fields)}" if fields else "It takes no fields."


def _sentence(error: Any) -> str:
    where = _named(error.absolute_path)
    match error.validator:
        case "required":
            missing = next(n for n in error.validator_value if n not in error.instance)
            return f"{where}the field `{missing}` is missing"
        case "additionalProperties":
            known = error.schema.get("properties", {})
            unknown = sorted(name for name in error.instance if name not in known)
            return f"{where}there is no field {', '.join(f'`{name}`' for name in unknown)}"
        case "type":
            return f"{where}expected {_kind(error.schema)}, got {_short(error.instance)}"
        case "enum":
            choices = ", ".join(json.dumps(each) for each in error.validator_value)
            return f"{where}expected one of {choices}, got {_short(error.instance)}"
        case _:
            return f"{where}{error.message[:_SHOWN]}"


def _named(path: Iterable[object]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return f"`{text}`: " if text else ""


def _kind(field: Mapping[str, Any]) -> str:
    kind = field.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _short(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
