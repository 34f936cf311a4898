"""Making the specification of a tool: its schema, and its description from the file beside it."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from siding.assistant.tools.port import Result, ToolSpec
from siding.ground.errors import counted

Field = Mapping[str, Any]
_SECOND_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHOWN = 200  # characters of a value that does not fit
_MOST_PROBLEMS = 5
_INVALID = "_invalid"  # the field of an input that was no JSON object: see `assistant.loop.model`


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
        shown.append(f"and {counted(len(problems) - len(shown), 'more problem')}")
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
