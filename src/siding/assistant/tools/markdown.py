"""HTML as Markdown: a program of its own, so that a page that takes for ever can be ended.

    python3 -I -S markdown.py PAGE.html https://example.org/page

It prints the page's title and text. Scripts, styles, forms' controls and pictures without a text
are left out; links are made absolute. Only the standard library is imported.
"""

import re
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin

_LEFT_OUT = frozenset(
    "script style noscript template svg math iframe object canvas video audio select button".split()
)
_BLOCKS = frozenset(
    "address article aside body dd details dialog div dl dt fieldset figcaption figure footer form "
    "header html main nav p section summary table tbody tfoot thead caption".split()
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_DEEPEST = 12  # lists and quotations within each other; what is deeper is shown there
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_LINKED = ("http://", "https://", "mailto:")


def markdown(page: str, base: str) -> str:
    """Return a page as Markdown; `base` is its address."""
    reader = _Reader(base)
    reader.feed(page)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Collects lines. `_line` is the text of the block that is being read."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._lines: list[str] = []
        self._line: list[str] = []
        self._lists: list[int] = []  # numbers of the next items; 0 for lists without numbers
        self._margins: list[str] = []  # what stands before each line
        self._marker = ""  # of a list's item that has no text yet
        self._links: list[tuple[str, int]] = []  # addresses, and where their texts begin
        self._left_out = 0
        self._pre = 0
        self._title: list[str] = []
        self._in_title = False
        self._cells = 0

    def text(self) -> str:
        """Return all of it."""
        self._flush()
        body = re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")
        title = _BLANKS.sub(" ", "".join(self._title)).strip()
        is_there = not title or body.startswith(f"# {title}")
        return body if is_there else f"# {title}\n\n{body}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self._left_out += 1
            return
        if self._left_out:
            return
        values = {name: value or "" for name, value in attrs}
        if tag in _MARKS and not self._pre:
            self._line.append(_MARKS[tag])
        elif tag in _CODE and not self._pre:
            self._line.append("`")
        elif tag in _HEADINGS:
            self._block()
            self._line.append(_HEADINGS[tag])
        else:
            self._inline_start(tag, values)
            self._block_start(tag)

    def _inline_start(self, tag: str, values: dict[str, str]) -> None:
        match tag:
            case "title":
                self._in_title = True
            case "br":
                self._line.append("\n") if self._pre else self._flush()
            case "a":
                self._links.append((values.get("href", "").strip(), len(self._line)))
            case "img":
                if alt := values.get("alt", "").strip():
                    self._line.append(f"[picture: {alt}]")

    def _block_start(self, tag: str) -> None:
        match tag:
            case "hr":
                self._block()
                self._put("---")
                self._block()
            case "pre":
                self._block()
                self._pre += 1
            case "ul" | "ol" | "menu":
                self._flush() if self._lists else self._block()
                self._lists.append(1 if tag == "ol" else 0)
            case "li":
                self._item()
            case "blockquote":
                self._block()
                self._margins.append("> ")
            case "tr":
                self._flush()
                self._cells = 0
            case "td" | "th":
                self._line.append(" | " if self._cells else "| ")
                self._cells += 1
            case _ if tag in _BLOCKS:
                self._block()

    def handle_endtag(self, tag: str) -> None:
        if tag in _LEFT_OUT:
            self._left_out = max(0, self._left_out - 1)
            return
        if self._left_out:
            return
        if tag in _MARKS and not self._pre:
            self._line.append(_MARKS[tag])
        elif tag in _CODE and not self._pre:
            self._line.append("`")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._block()
        else:
            self._other_end(tag)

    def _other_end(self, tag: str) -> None:
        match tag:
            case "title":
                self._in_title = False
            case "pre" if self._pre:
                self._end_pre()
            case "a" if self._links:
                self._end_link(*self._links.pop())
            case "ul" | "ol" | "menu" if self._lists:
                self._flush()
                self._lists.pop()
                if not self._lists:
                    self._block()
            case "li":
                self._flush()
                self._marker = ""
            case "blockquote" if self._margins:
                self._flush()
                self._margins.pop()
                self._block()
            case "tr":
                if self._cells:
                    self._line.append(" |")
                self._cells = 0
                self._flush()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._left_out:
            self._line.append(data if self._pre else _BLANKS.sub(" ", data))

    def _end_link(self, address: str, begin: int) -> None:
        text = "".join(self._line[begin:]).strip()
        try:
            target = urljoin(self._base, address)
        except ValueError:
            return
        if text and address and not address.startswith("#") and target.startswith(_LINKED):
            del self._line[begin:]
            self._line.append(text if text == target else f"[{text}]({target})")

    def _item(self) -> None:
        self._flush()
        if self._lists and self._lists[-1]:
            self._marker = f"{self._lists[-1]}. "
            self._lists[-1] += 1
        else:
            self._marker = "- "

    def _end_pre(self) -> None:
        self._pre -= 1
        if self._pre:
            return
        code = "".join(self._line).strip("\n")
        self._line.clear()
        self._links.clear()
        if code.strip():
            fence = "````" if "```" in code else "```"
            for line in (fence, *code.split("\n"), fence):
                self._put(line)
        self._block()

    def _block(self) -> None:
        """End the block that is being read; an empty line follows."""
        if self._pre:
            return
        self._flush()
        if self._lines and self._lines[-1].strip() and not self._lists:
            self._lines.append("".join(self._margins[:_DEEPEST]).rstrip())

    def _flush(self) -> None:
        if self._pre:
            return
        text = re.sub(r" {2,}", " ", "".join(self._line)).strip()
        self._line.clear()
        self._links = [(address, 0) for address, _begin in self._links]
        if text.strip("*~`#| "):
            self._put(text)

    def _put(self, text: str) -> None:
        depth = max(0, min(len(self._lists), _DEEPEST) - 1)
        lead = self._marker or ("  " if self._lists else "")
        margin = "".join(self._margins[:_DEEPEST])
        self._lines.append(f"{margin}{'  ' * depth}{lead}{text}".rstrip())
        self._marker = ""


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        found = markdown(file.read(), sys.argv[2])
    sys.stdout.buffer.write(found.encode("utf-8", "replace"))
