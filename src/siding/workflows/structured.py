"""Results that are objects: asked of an agent by a JSON Schema, found in its text, checked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from re import DOTALL
from re import compile as compile_re
from typing import Any

from siding.workflows.errors import ScriptError

_FENCED = compile_re(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)```", DOTALL)
_SHOWN = 5  # messages about one result


def instructions(schema: Mapping[str, Any]) -> str:
    """Return what a prompt says at its end about the object that is wanted."""
    return (
        "\n\nEnd with one JSON object that fits this JSON Schema, in the last message, as its last"
        " block, with no text after it:\n" + json.dumps(schema, ensure_ascii=False, indent=2)
    )


def correction(problem: str) -> str:
    """Return what an agent is told whose result did not fit."""
    return (
        f"\n\nThe result of the last attempt was refused: {problem}. Answer again, with a JSON"
        " object that fits the schema."
    )


def extract(text: str) -> dict[str, Any] | None:
    """Return the object in an agent's text: the first in a fenced block, else the first at all."""
    for fenced in _FENCED.findall(text):
        if (found := _parsed(fenced)) is not None:
            return found
    for candidate in _balanced(text):
        if (found := _parsed(candidate)) is not None:
            return found
    return None


def extract_structured_output(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the object in the text blocks of a message; see `extract`."""
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    return extract("\n".join(texts))


def refuse_bad(schema: Mapping[str, Any]) -> None:
    """Raise ScriptError if this is no JSON Schema."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema).check_schema(dict(schema))
    except SchemaError as error:
        raise ScriptError(f"agent(schema=…) is no JSON Schema: {error.message}") from None


def misfits(schema: Mapping[str, Any], value: Any) -> str:
    """Return what is wrong with a value, such as "/count must be number"; "" if it fits."""
    errors = sorted(
        _validator(json.dumps(schema)).iter_errors(value), key=lambda one: one.json_path
    )
    return ", ".join(_told(error) for error in errors[:_SHOWN])


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    # Imported here: the import takes 90 ms, and most calls have no schema.
    from jsonschema.validators import validator_for

    parsed = json.loads(schema)
    return validator_for(parsed)(parsed)


def _told(error: Any) -> str:
    where = "".join(f"/{_escaped(part)}" for part in error.absolute_path)
    match error.validator:
        case "type":
            wanted = error.validator_value
            kinds = wanted if isinstance(wanted, str) else ",".join(wanted)
            return f"{where} must be {kinds}".strip()
        case "additionalProperties" | "required" | "enum" | "const" | _:
            return f"{where} {error.message}".strip()


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _balanced(text: str) -> Iterator[str]:
    """Yield what stands between each "{" and the "}" that closes it, outside of strings."""
    start = text.find("{")
    while start >= 0:
        end = _closing(text, start)
        if end is not None:
            yield text[start:end]
        start = text.find("{", start + 1)


def _closing(text: str, start: int) -> int | None:
    depth, in_string, escaped = 0, False, False
    for position in range(start, len(text)):
        letter = text[position]
        if in_string:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"':
                in_string = False
        elif letter == '"':
            in_string = True
        elif letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                return position + 1
    return None
