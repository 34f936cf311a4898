"""Write a conversation as one HTML page without scripts or requests; tool calls are folded."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, SYSTEM, USER, Record
from siding.agents.transcripts.markdown import (
    LONGEST_RESULT,
    ShownCall,
    result_text,
    says_nothing,
    shown_call,
)
from siding.agents.transcripts.messages import content_of, is_boundary
from siding.ground.namedtuples import NamedTuple
from siding.ground.prose import html_of

# What a browser draws without running anything: SVG is not among them.
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #2563eb; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 50rem; margin: 0 auto;
  padding: 2rem 1rem; }
h1 { font-size: 1.4rem; } time { color: #888; font-size: .8rem; }
article { border-left: 3px solid var(--line); padding: .1rem 0 .1rem 1rem; margin: 1.25rem 0; }
article.user { border-color: var(--accent); } article h2 { font-size: .85rem; margin: 0; }
article.hidden, article.thought { opacity: .7; }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; border-radius: .4rem; font-size: .85rem;
  margin: .4rem 0; }
details { border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .75rem;
  margin: .5rem 0; }
summary { cursor: pointer; } .error summary { color: #dc2626; }
hr { border: 0; border-top: 2px dashed var(--line); margin: 2rem 0 .3rem; }
.diff ins { color: #16a34a; text-decoration: none; }
.diff del { color: #dc2626; text-decoration: none; } img { max-width: 100%; }
.call { font-size: .85rem; margin: .4rem 0; overflow-wrap: anywhere; }
.prose { overflow-wrap: anywhere; } .prose > * { margin: .5rem 0; }
.prose h1, .prose h2, .prose h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.prose code { background: var(--soft); padding: .1rem .25rem; border-radius: .25rem;
  font-size: .85em; } .prose pre code { background: none; padding: 0; font-size: inherit; }
.prose table { border-collapse: collapse; display: block; overflow-x: auto; }
.prose th, .prose td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; }
.prose blockquote { border-left: 3px solid var(--line); padding-left: .75rem; }
.prose .link { text-decoration: underline; } .prose .address { color: #888; }
.mark { text-align: center; color: #888; font-size: .85rem; }
"""
# Characters that draw nothing but change what is seen: controls, and those that reorder or hide
# text. They are shown as escapes, so that a page cannot be made to look like it says another thing.
_INVISIBLE = {
    *range(0x09),
    0x0B,
    0x0C,
    *range(0x0E, 0x20),
    *range(0x7F, 0xA0),
    0x200B,
    *range(0x200E, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
}
_INERT = {code: f"\\u{code:04x}" for code in _INVISIBLE}
_INERT |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def page(title: str, records: Iterable[Record], *, images: bool = True) -> Iterator[str]:
    """Yield the page in pieces. Everything from the conversation is escaped and shown as text.

    Without `images` their places are marked: nobody can take the secrets out of one.
    """
    yield from document(title, (_piece(record, images) for record in records))


def document(title: str, pieces: Iterable[str], *, head: str = "") -> Iterator[str]:
    """Yield a page around pieces of HTML; `head` is more of its head."""
    yield (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f'<meta name=referrer content="no-referrer">\n{head}'
        f"<title>{shown(title)}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body><h1>{shown(title)}</h1>\n"
    )
    yield from pieces
    yield "</body></html>\n"


def shown(value: object) -> str:
    """Return the value as HTML text: markup escaped, invisible characters shown as ``\\uXXXX``."""
    return escape(str(value).translate(_INERT))


def _piece(record: Record, images: bool) -> str:
    if says_nothing(record):
        return ""
    kind = record.get("type")
    when = f"<time>{shown(_minute(record.get('timestamp')))}</time>"
    if is_boundary(record):
        return f"<hr><p class=mark>compacted here · {when}</p>\n"
    if kind == SYSTEM:
        return f"<p class=mark>{shown(record.get('content') or '')} {when}</p>\n"
    if kind == ATTACHMENT:
        attachment = record.get("attachment")
        name = attachment.get("filename", "") if isinstance(attachment, dict) else ""
        return f"<p class=mark>attached: {shown(name)}</p>\n"
    if kind not in (USER, ASSISTANT):
        return ""
    is_prose = kind == ASSISTANT or bool(record.get("isCompactSummary"))
    parts = "".join(_blocks(content_of(record), images, is_prose))
    if not parts:
        return ""
    who, style = _who(record)
    return f"<article class='{style}'><h2>{who} {when}</h2>{parts}</article>\n"


def _minute(stamp: object) -> str:
    """Return the time of a record without its seconds; a text of another form as it is."""
    said = stamp if isinstance(stamp, str) else ""
    return f"{said[:10]} {said[11:16]} UTC" if _STAMP.fullmatch(said) else said


def _who(record: Record) -> tuple[str, str]:
    if record.get("type") == ASSISTANT:
        return "Model", "assistant"
    if record.get("isCompactSummary"):
        return "Summary", "hidden"
    if record.get("isMeta"):
        return "Hidden prompt", "hidden"
    content = content_of(record)
    if isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    ):
        return "Tools", "tools"
    return "Person", "user"


def _text(text: object, is_prose: bool) -> str:
    """Return what a model wrote as the Markdown it is, and what a person typed as it was typed."""
    if is_prose:
        return f"<div class=prose>{html_of(str(text).translate(_INERT))}</div>"
    return f"<div class=text>{shown(text)}</div>"


def _blocks(content: object, images: bool, is_prose: bool) -> Iterator[str]:
    if isinstance(content, str):
        yield _text(content, is_prose)
        return
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            yield _text(block.get("text", ""), is_prose)
        elif kind == "thinking" and block.get("thinking"):
            yield _folded("thoughts", str(block["thinking"]))
        elif kind == "tool_use":
            yield _call(shown_call(block.get("name"), block.get("input")))
        elif kind == "tool_result":
            text = result_text(block.get("content"), LONGEST_RESULT)
            is_error = bool(block.get("is_error"))
            yield _folded("error" if is_error else "result", text, error=is_error)
        elif kind == "image" and images and (source := _image(block.get("source"))):
            yield f'<img alt="an image" src="{source}">'
        elif kind in ("image", "document"):
            yield f"<p class=mark>[{shown(kind)}]</p>"


def _call(call: ShownCall) -> str:
    """A diff and a command are open; a read has only its line; what is written is folded."""
    if not call.body:
        return f"<p class=call>{shown(call.label)}</p>"
    if call.language == "diff":
        body = "".join(_diff_line(line) for line in call.body.splitlines())
        return _details(call.label, f"<pre class=diff>{body}</pre>", is_open=True)
    if call.language == "sh":
        return _details(call.label, f"<pre>{shown(call.body)}</pre>", is_open=True)
    return _folded(call.label, call.body)


def _diff_line(line: str) -> str:
    style = {"+": "ins", "-": "del"}.get(line[:1])
    text = f"{shown(line)}\n"
    return text if style is None else f"<{style}>{text}</{style}>"


def _details(label: str, body: str, *, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{shown(label)}</summary>{body}</details>"


def _image(source: object) -> str:
    """Return an image in the page's own bytes as an address; "" for any other one."""
    if not isinstance(source, dict) or source.get("media_type") not in _IMAGES:
        return ""
    data = source.get("data")
    if not isinstance(data, str) or _BASE64.fullmatch(data) is None:
        return ""
    return f"data:{source['media_type']};base64,{data}"


def _folded(label: str, text: str, *, error: bool = False) -> str:
    style = " class=error" if error else ""
    return f"<details{style}><summary>{shown(label)}</summary><pre>{shown(text)}</pre></details>"


GENERATOR = "siding session pages"  # by this a page of ours is known


class IndexEntry(NamedTuple):
    """A conversation in the list. `about` are words such as its client; `parts` its subagents."""

    file: str  # its page, in the same directory
    name: str
    when: str
    about: Sequence[str]
    parts: Sequence[tuple[str, str]] = ()  # file and name of each


def index_page(title: str, entries: Iterable[IndexEntry]) -> Iterator[str]:
    """Yield the page in pieces. Everything from a conversation is escaped and shown as text."""
    head = f'<meta name=generator content="{GENERATOR}">\n'
    yield from document(title, map(_entry, entries), head=head)


def _entry(entry: IndexEntry) -> str:
    about = " · ".join(shown(each) for each in entry.about if each)
    parts = "".join(f"<li>{_link(*part)}</li>" for part in entry.parts)
    below = f"<ul>{parts}</ul>" if parts else ""
    when = f"<time>{shown(entry.when)}</time>"
    return (
        f"<article class=user><h2>{_link(entry.file, entry.name)}</h2>"
        f"<p class=call>{when} {about}</p>{below}</article>\n"
    )


def _link(file: str, name: str) -> str:
    return f'<a href="{shown(file)}">{shown(name)}</a>'
