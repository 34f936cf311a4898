"""Markdown and the page: all that was said, nothing that does anything."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.markdown import fenced, markdown
from siding.agents.transcripts.page import page

from .building import called, line, result, said


def talk(text: str) -> list[Record]:
    broken = result("r1", None, 3, "t1", text)
    broken["message"]["content"][0]["is_error"] = True
    answer = said("a2", None, 4, "assistant")
    answer["message"]["content"] = [{"type": "thinking", "thinking": text}, {"type": "image"}]
    return line(
        [
            said("u1", None, 1, message={"role": "user", "content": text}),
            called("a1", None, 2, "t1"),
            broken,
            answer,
            said("s1", None, 5, "system", content=text),
            said("t1", None, 6, "attachment", attachment={"filename": text}),
            said("b", None, 7, "system", subtype="compact_boundary"),
        ]
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@given(st.text() | st.just("<script>alert(1)</script><img src=x onerror=y>\x1b[2J\u202e</pre>"))
def test_a_page_holds_nothing_but_text(text: str) -> None:
    whole = "".join(page(text, talk(text)))
    found = _Tags()
    found.feed(whole)
    assert found.tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "article",
        "time",
        "div",
        "details",
        "summary",
        "pre",
        "p",
        "hr",
    }
    assert found.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert not set(whole) & set("\x1b\u202e\u200b\x00")
    whole.encode()


def test_tools_are_folded() -> None:
    whole = "".join(page("T", talk("x")))
    assert whole.count("<details") == 3
    assert "default-src 'none'" in whole


@given(st.text(alphabet="`ab\n"))
def test_a_fence_holds_whatever_is_in_it(text: str) -> None:
    fence, *middle, last, end = fenced(text).split("\n")
    assert end == ""
    assert last == fence
    assert "\n".join(middle) == text
    assert fence not in text


def test_markdown_says_who_said_what() -> None:
    text = "".join(markdown("T", talk("words")))
    assert text.startswith("# T\n\n## Person\n\nwords\n")
    assert "## Model\n\n**Bash**" in text
    assert "*error*" in text
    assert "*Compacted here*" in text
    assert (
        "".join(markdown("T", [said("u", None, 1, message={"content": "x" * 9})])).count("x") == 9
    )
