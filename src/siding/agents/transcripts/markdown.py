"""Write a conversation as Markdown, and show a call of a tool: an edit as a diff, a read as a line.

What is known of a tool goes by the names of its arguments, not by its own: clients have many.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, SYSTEM, USER, Record
from siding.agents.transcripts.messages import content_of, is_boundary
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

LONGEST_RESULT = 4000  # characters of a tool's result that are shown


def markdown(
    title: str, records: Iterable[Record], *, longest_result: int = LONGEST_RESULT
) -> Iterator[str]:
    """Yield the document in pieces, one for each message. Texts are not escaped.

    Tool results are cut after `longest_result` characters.
    """
    yield f"# {title}\n"
    for record in records:
        piece = _piece(record, longest_result)
        if piece:
            yield piece


def _piece(record: Record, longest: int) -> str:
    if says_nothing(record):
        return ""
    kind = record.get("type")
    when = str(record.get("timestamp", ""))
    if is_boundary(record):
        return f"\n---\n\n*Compacted here* ({when})\n"
    if kind == SYSTEM:
        return f"\n> {_one_line(record.get('content'))}\n"
    if kind == ATTACHMENT:
        attachment = record.get("attachment")
        name = attachment.get("filename", "") if isinstance(attachment, dict) else ""
        return f"\n> attached: `{_one_line(name)}`\n"
    if kind not in (USER, ASSISTANT):
        return ""
    body = "".join(blocks(content_of(record), longest))
    if not body:
        return ""
    if kind == ASSISTANT:
        return f"\n## Model\n{body}"
    if record.get("isCompactSummary"):
        return f"\n## Summary\n{body}"
    if _only_results(content_of(record)):
        return body
    return f"\n## {'Hidden prompt' if record.get('isMeta') else 'Person'}\n{body}"


def blocks(content: object, longest: int) -> Iterator[str]:
    """Yield the content of a message as Markdown, block by block.

    Tool results are cut after `longest` characters.
    """
    if isinstance(content, str):
        yield f"\n{content}\n"
        return
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            yield f"\n{block.get('text', '')}\n"
        elif kind == "thinking" and block.get("thinking"):
            yield "\n" + _quoted(str(block["thinking"])) + "\n"
        elif kind == "tool_use":
            call = shown_call(block.get("name"), block.get("input"))
            body = fenced(call.body.removesuffix("\n"), call.language) if call.body else ""
            yield f"\n**{_one_line(call.label)}**\n\n{body}"
        elif kind == "tool_result":
            label = "error" if block.get("is_error") else "result"
            yield f"\n*{label}*\n\n{fenced(result_text(block.get('content'), longest))}"
        elif kind in ("image", "document"):
            yield f"\n*[{kind}]*\n"


def result_text(content: object, longest: int) -> str:
    """Return a tool's result as text, cut after `longest` characters."""
    if isinstance(content, list):
        parts: Sequence[object] = content
        content = "\n".join(
            str(part.get("text", f"[{part.get('type')}]"))
            for part in parts
            if isinstance(part, dict)
        )
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n… {counted(len(text) - longest, 'more character')}"


def fenced(text: str, language: str = "") -> str:
    """Return the text as a fenced code block; the fence is longer than any run of backticks in it.

    Otherwise the text could end the block.
    """
    longest = 2
    run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _only_results(content: object) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _one_line(value: object) -> str:
    return " ".join(str(value).replace("`", "'").split()) if value is not None else ""


# -- How a call of a tool is shown -----------------------------------------------------------------

_PATHS = ("file_path", "absolute_path", "notebook_path", "path")
_PLACES = frozenset({*_PATHS, "offset", "limit", "pages"})
STEP = "siding_step"  # the subtype of a line that stands for a step, in what is shown
_MOST_LINES = 400  # of a text in a diff: to compare longer ones takes seconds


class ShownCall(NamedTuple):
    """A call as it is shown: a line, and what is below it, in a language of code blocks."""

    label: str
    body: str
    language: str = ""


def shown_call(name: object, arguments: object) -> ShownCall:
    """Return how the call of the tool `name` is shown."""
    named = str(name or "tool")
    given = arguments if isinstance(arguments, dict) else {}
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), "")
    diff = "".join(_diffs(given))
    if diff:
        return ShownCall(label=f"{named} {path}".strip(), body=diff, language="diff")
    patch = _patch_in(arguments)
    if patch:
        return ShownCall(label=named, body=patch, language="diff")
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    if isinstance(command, str):
        about = given.get("description")
        label = f"{named}: {about}" if isinstance(about, str) and about else named
        return ShownCall(label=label, body=command, language="sh")
    if path and isinstance(given.get("content"), str):
        return ShownCall(label=f"{named} {path}", body=given["content"])
    if path and not given.keys() - _PLACES:
        places = [f"{key} {given[key]}" for key in ("offset", "limit", "pages") if key in given]
        return ShownCall(label=" ".join([named, path, *places]), body="")
    body = json.dumps(arguments, ensure_ascii=False, indent=2)
    return ShownCall(label=named, body=body, language="json")


def says_nothing(record: Record) -> bool:
    """Return whether a message is only of use to its client: hooks, times, empty attachments."""
    kind = record.get("type")
    if kind == ATTACHMENT:
        attachment = record.get("attachment")
        return not (isinstance(attachment, dict) and attachment.get("filename"))
    return kind == SYSTEM and not record.get("content") and not is_boundary(record)


def _diffs(given: Mapping[str, Any]) -> Iterator[str]:
    edits = given.get("edits")
    for edit in [given, *(edits if isinstance(edits, list) else [])]:
        if not isinstance(edit, dict):
            continue
        old, new = edit.get("old_string"), edit.get("new_string")
        if isinstance(old, str) and isinstance(new, str):
            yield _diff(old.splitlines(), new.splitlines())


def _diff(old: list[str], new: list[str]) -> str:
    if max(len(old), len(new)) > _MOST_LINES:
        lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        lines = [line.rstrip("\n") for line in unified_diff(old, new, n=2, lineterm="")][2:]
    return "".join(f"{line}\n" for line in lines)


def _patch_in(arguments: object) -> str:
    """Return the patch that Codex' tool takes as its one argument."""
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    found = [each for each in values if isinstance(each, str)]
    if len(found) == 1 and found[0].lstrip().startswith("*** Begin Patch"):
        return found[0]
    return ""
