"""Write results for other programs: ``--format json`` and ``--output FILE``."""

from typing import Any

from siding.faces.cli.screen.screen import Screen


def print_json(screen: Screen, value: Any) -> None:
    """Print `value` as JSON, indented."""
    screen.print(json_text(value))


def print_line(screen: Screen, value: Any) -> None:
    """Print `value` as one line of JSON, with letters of other scripts as they are.

    Characters that are not printable (controls, changes of the text's direction) are escaped. If
    the terminal's encoding lacks a letter, all but ASCII is. A parser reads the same value.
    """
    import json

    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not line.isprintable():
        line = "".join(each if each.isprintable() else _escaped(each) for each in line)
    try:
        line.encode(screen.out.encoding or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    screen.print(line)


def _escaped(character: str) -> str:
    import json

    return json.dumps(character, ensure_ascii=True)[1:-1]


def json_text(value: Any) -> str:
    """Return `value` as indented JSON in valid UTF-8, also when file names in it are not."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    return text.encode("utf-8", "backslashreplace").decode()


def write_result(screen: Screen, output: str | None, text: str) -> None:
    """Print `text`, or write it to the file the person named, replacing it."""
    if output is None:
        screen.out.write(text)
        return
    from pathlib import Path

    Path(output).write_bytes(text.encode("utf-8", "surrogateescape"))
    screen.note(f"written to {output}")


def _plain(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
