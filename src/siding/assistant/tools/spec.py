"""Making the specification of a tool: its schema, and its description from the file beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.assistant.tools.port import Result, ToolSpec

Field = Mapping[str, Any]


def spec_of(module: str, name: str, fields: Mapping[str, Field], *required: str) -> ToolSpec:
    """Return the specification of a tool. Its description is the ``.md`` beside its module."""
    description = Path(module).with_suffix(".md").read_text("utf-8").strip()
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
