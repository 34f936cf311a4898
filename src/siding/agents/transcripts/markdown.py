"""Write a conversation as Markdown."""

import json
from collections.abc import Iterable, Iterator, Sequence

from siding.agents.transcripts.calls import says_nothing, shown_call
from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, SYSTEM, USER, Record
from siding.agents.transcripts.messages import content_of, is_boundary

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
    return f"{text[:longest]}\n… {len(text) - longest} more characters"


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
