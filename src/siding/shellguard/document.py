"""A YAML document that knows the line of each of its values."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple

LARGEST = 1 << 20  # bytes
DEEPEST = 8  # levels of nesting; a YAML alias that contains itself would nest without end


class PolicyMistake(ValueError):
    """The file is not a valid policy; `where` names the line or the key of the mistake."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")


class Document(NamedTuple):
    """A mapping, and the line of each value in it."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]  # "rules[0].pattern" -> line, counted from 1


def document_of(raw: bytes) -> Document:
    """Return the document in a file's bytes. Raises PolicyMistake."""
    import yaml

    if len(raw) > LARGEST:
        raise PolicyMistake("the file", f"is larger than {LARGEST} bytes")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(raw, Loader=loader)
        document = yaml.load(raw, Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "the file"
        why = getattr(error, "problem", None) or " ".join(str(error).split())
        raise PolicyMistake(where, why) from None
    except ValueError as error:
        raise PolicyMistake("the file", str(error)) from None
    lines: dict[str, int] = {}
    if node is not None:
        _note_lines(node, "", lines)
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise PolicyMistake("line 1", f"a policy is a mapping, this is {kind_of(document)}")
    return Document(values=document, lines=lines)


def _note_lines(node: Any, path: str, lines: dict[str, int]) -> None:
    if path.count(".") + path.count("[") > DEEPEST:
        raise PolicyMistake(f"line {node.start_mark.line + 1}", "nested too deeply")
    lines.setdefault(path, node.start_mark.line + 1)
    if node.id == "mapping":
        seen = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise PolicyMistake(f"line {key.start_mark.line + 1}", f"{name!r} is given twice")
            seen.add(name)
            here = f"{path}.{name}" if path else name
            lines[here] = key.start_mark.line + 1
            _note_lines(value, here, lines)
    elif node.id == "sequence":
        for index, value in enumerate(node.value):
            _note_lines(value, f"{path}[{index}]", lines)


def kind_of(value: object) -> str:
    """Return what a value is, in the words of a message."""
    names = {dict: "a mapping", list: "a list", str: "text", int: "a number", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)
