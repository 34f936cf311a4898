"""The parts of a story that have more than a line: output, patches, what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from siding.chat.wording import Tone, Words, question_of, records_in, text_in

Line = tuple[str, str]  # what is said, and its style

_OUTPUT_LINES = 6
_PATCH_LINES = 24
_LONGEST_LINE = 240
STYLES = {Tone.PLAIN: "", Tone.DIM: "dim", Tone.CALL: "cyan", Tone.WARN: "yellow", Tone.BAD: "red"}


def output(said: str, style: str = "dim") -> Iterator[Line]:
    """Yield the beginning and the end of what a tool has printed."""
    lines = said.strip("\n").split("\n") if said.strip() else []
    for each in _middle_out(lines, _OUTPUT_LINES):
        yield f"  {each[:_LONGEST_LINE]}", style


def patches(edits: Sequence[Mapping[str, Any]], workspace: str) -> Iterator[Line]:
    """Yield what a tool changes, as a patch under the name of each file from the workspace."""
    from siding.chat.edits import patch_lines

    for edit in edits:
        path = text_in(edit, "path")
        yield f"  {path.removeprefix(f'{workspace}/') if workspace else path}", "bold"
        for each in _middle_out(patch_lines(edit), _PATCH_LINES):
            style = {"+": "green", "-": "red", "@": "cyan"}.get(each[:1], "dim")
            yield f"  {each[:_LONGEST_LINE]}", style


def _middle_out(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most + 1:
        return lines
    left = len(lines) - most
    return [*lines[: most - 2], f"… {left} more lines", *lines[-2:]]


def said(words: Iterable[Words], indent: str = "") -> Iterator[Line]:
    """Yield what any face says of a story, in the colours of this one."""
    for each in words:
        yield f"{indent}{each.said}", STYLES[each.tone]


def asked(line: Mapping[str, Any], above: str, workspace: str) -> Iterator[Line]:
    """Yield what the agent asks; `above` is what was said of the call that it asks for."""
    yield from said(question_of(line, above))
    if not line.get("choices"):
        yield from patches(records_in(line, "edits"), workspace)


def how_to_answer(ask: Mapping[str, Any], put: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the commands that answer an ask, which was put to a person so."""
    questions = records_in(ask, "choices")
    words = f"siding chat answer {text_in(put, 'decision')}"
    if len(questions) > 1:
        yield f"  {words} --choose 1=OPTION --choose 2=OPTION", "yellow"
        return
    if questions:
        yield f"  {words} --choose OPTION", "yellow"
        return
    found = put.get("always")
    longer = [str(each) for each in found] if isinstance(found, list) else []
    more = "|".join(each for each in longer if each != "conversation")
    always = f" | --always{f' [{more}]' if more else ''}" if longer else ""
    yield f"  {words} --yes{always} | --no --reason TEXT", "yellow"
    if text_in(put, "may"):
        yield f"  always: it may {text_in(put, 'may')}", "dim"
