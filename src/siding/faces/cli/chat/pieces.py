"""The parts of a story that have more than a line: output, patches, usage, what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Line = tuple[str, str]  # what is said, and its style

_OUTPUT_LINES = 6
_PATCH_LINES = 24
_LONGEST_LINE = 240
_HEADS = ("---", "+++", "diff ", "index ")


def text_in(line: Mapping[str, Any], name: str) -> str:
    found = line.get(name)
    return found if isinstance(found, str) else ""


def records_in(line: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = line.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def output(said: str, style: str = "dim") -> Iterator[Line]:
    """Yield the beginning and the end of what a tool has printed."""
    lines = said.strip("\n").split("\n") if said.strip() else []
    for each in _middle_out(lines, _OUTPUT_LINES):
        yield f"  {each[:_LONGEST_LINE]}", style


def patches(edits: Sequence[Mapping[str, Any]], workspace: str) -> Iterator[Line]:
    """Yield what a tool changes, as a patch under the name of each file from the workspace."""
    for edit in edits:
        path = text_in(edit, "path")
        yield f"  {path.removeprefix(f'{workspace}/') if workspace else path}", "bold"
        lines = [each for each in _patch(edit) if not each.startswith(_HEADS)]
        for each in _middle_out(lines, _PATCH_LINES):
            style = {"+": "green", "-": "red", "@": "cyan"}.get(each[:1], "dim")
            yield f"  {each[:_LONGEST_LINE]}", style


def _patch(edit: Mapping[str, Any]) -> list[str]:
    if text_in(edit, "patch"):
        return text_in(edit, "patch").rstrip("\n").split("\n")
    from difflib import unified_diff

    before, after = text_in(edit, "old").splitlines(), text_in(edit, "new").splitlines()
    return list(unified_diff(before, after, lineterm="", n=2))


def _middle_out(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most + 1:
        return lines
    left = len(lines) - most
    return [*lines[: most - 2], f"… {left} more lines", *lines[-2:]]


def plan(line: Mapping[str, Any]) -> Iterator[Line]:
    for each in records_in(line, "steps"):
        status = text_in(each, "status")
        mark = {"completed": "x", "in_progress": ">"}.get(status, " ")
        yield f"  [{mark}] {text_in(each, 'text')}", "dim" if status == "completed" else ""


def usage(line: Mapping[str, Any]) -> str:
    """Return what a turn has used, as one phrase; "" if nothing is known."""
    named = (("input", "in"), ("cached", "cached"), ("output", "out"))
    said = [f"{short(int(line[key]))} {word}" for key, word in named if line.get(key)]
    context, window = line.get("context"), line.get("window")
    if context and window:
        said.append(f"context {100 * int(context) // int(window)} %")
    dollars = line.get("dollars")
    if isinstance(dollars, int | float) and dollars:
        said.append(f"${dollars:.2f}" if dollars >= 0.01 else "under $0.01")
    return " · ".join(said)


def short(tokens: int) -> str:
    """Return a number of tokens in few characters: ``950``, ``1.2k``, ``34k``, ``1.2M``."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if tokens >= size:
            value = tokens / size
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return str(tokens)


def asked(line: Mapping[str, Any], above: str, workspace: str) -> Iterator[Line]:
    """Yield what the agent asks; `above` is what was said of the call that it asks for."""
    questions = records_in(line, "choices")
    if not questions:
        what = text_in(line, "command") or text_in(line, "title")
        yield f"? may it{' do that?' if what == above else f': {what}'}", "yellow"
        yield from patches(records_in(line, "edits"), workspace)
    for number, each in enumerate(questions, start=1):
        before = f"{number}. " if len(questions) > 1 else ""
        yield f"? {before}{text_in(each, 'question')}", "yellow"
        options = each.get("options")
        for place, (label, about) in enumerate(_options(options), start=1):
            yield f"    {place} {label}{f': {about}' if about else ''}", ""


def _options(found: object) -> Iterator[tuple[str, str]]:
    for each in found if isinstance(found, list) else ():
        if isinstance(each, list) and each:
            yield str(each[0]), str(each[1]) if len(each) > 1 else ""


# For how long what is allowed counts, by the name that it has in a story.
LASTS = {
    "conversation": "in this conversation",
    "task": "for this task",
    "agent": "for this agent in this project",
}


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
