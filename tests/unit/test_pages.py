"""Pages for users are short, and a link to a part of a page leads to that part."""

import re
from pathlib import Path

from tools.house.source import CHECKOUT

DOCS = CHECKOUT / "docs"
MOST_WORDS = 700  # what somebody reads in three minutes
# They are for whoever changes Siding, or only list the others.
NO_PAGES = {"README", "architecture", "decisions"}
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK_TO_A_PART = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")


def _too_long(docs: Path) -> dict[str, int]:
    """Return the pages with more words than a page for users has, and how many they have."""
    words = {page.stem: len(page.read_text("utf-8").split()) for page in docs.glob("*.md")}
    return {
        name: count
        for name, count in sorted(words.items())
        if count > MOST_WORDS and name not in NO_PAGES
    }


def _parts(text: str) -> set[str]:
    """Return the anchors of a page, made from its headings as forges make them."""
    headings = HEADING.findall(FENCED.sub("", text))
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def test_a_page_for_users_is_read_in_three_minutes() -> None:
    assert [f"docs/{name}.md has {count} words" for name, count in _too_long(DOCS).items()] == []


def test_the_index_names_each_page() -> None:
    """A page that no list names is found by nobody."""
    index = (DOCS / "README.md").read_text("utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"README.md"}
    assert [page for page in sorted(pages) if f"]({page})" not in index] == []


def test_a_page_is_too_long_from_one_word_on(tmp_path: Path) -> None:
    (tmp_path / "short.md").write_text("word " * MOST_WORDS)
    (tmp_path / "long.md").write_text("word " * (MOST_WORDS + 1))
    (tmp_path / "decisions.md").write_text("word " * (MOST_WORDS + 1))
    assert _too_long(tmp_path) == {"long": MOST_WORDS + 1}


def test_a_link_to_a_part_of_a_page_leads_there() -> None:
    lost, count = [], 0
    for page in [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target, part in LINK_TO_A_PART.findall(page.read_text("utf-8")):
            count += 1
            linked = page.parent / target if target else page
            if not linked.is_file() or part not in _parts(linked.read_text("utf-8")):
                lost.append(f"{page.relative_to(CHECKOUT)}: {target}#{part}")
    assert "\n".join(lost) == ""
    assert count > 50
