"""Texts in the documents that name files: each names one that exists.

A link that leads nowhere is seen by whoever follows it, and so is a path in backticks.
"""

import re
from pathlib import Path

from tools.house.source import CHECKOUT

NAMED = re.compile(r"(?<!\[)`((?:\.\./)*(?:\w[\w.-]*/)*\w[\w-]*\.(?:md|py))`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
# The words that stand for a name in a recipe.
PLACEHOLDER = re.compile(r"\b(?:NAME|KIND|NOUN|FEATURE)\b")
OTHERS = {"session-memory/summary.md"}  # of Claude Code
# What was decided is told in the words of its day.
AS_IT_WAS = {"docs/decisions.md"}


def _documents() -> list[Path]:
    """Return the documents that tell of the source."""
    source = CHECKOUT / "src/siding"
    found = [CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").rglob("*.md")]
    found += [path for name in ("README.md", "FORMAT.md") for path in source.rglob(name)]
    return [path for path in found if path.relative_to(CHECKOUT).as_posix() not in AS_IT_WAS]


def _ends() -> set[str]:
    """Return each file of the project by all ends of its path."""
    found = set()
    for top in ("src", "docs", "tests", "tools", "prove", "benchmarks"):
        for suffix in ("*.py", "*.md"):
            for path in (CHECKOUT / top).rglob(suffix):
                parts = path.relative_to(CHECKOUT).parts
                found |= {"/".join(parts[start:]) for start in range(len(parts))}
    return found | {path.name for suffix in ("*.py", "*.md") for path in CHECKOUT.glob(suffix)}


def test_each_path_in_a_document_leads_to_a_file() -> None:
    ends, count, lost = _ends(), 0, []
    for document in _documents():
        # Pages name files of other programs, too.
        is_page = "docs" in document.relative_to(CHECKOUT).parts
        for number, line in enumerate(document.read_text("utf-8").splitlines(), 1):
            for named in NAMED.findall(line):
                is_bare = "/" not in named
                if PLACEHOLDER.search(named) or named in OTHERS or (is_bare and is_page):
                    continue
                count += 1
                is_relative = named.startswith("../")
                if not ((document.parent / named).is_file() if is_relative else named in ends):
                    lost.append(f"{document.relative_to(CHECKOUT)}:{number}: {named}")
    assert "\n".join(lost) == ""
    assert count > 200


def test_each_link_of_a_document_leads_to_a_file() -> None:
    count, lost = 0, []
    for document in _documents():
        for linked in LINK.findall(document.read_text("utf-8")):
            count += 1
            if not (document.parent / linked).exists():
                lost.append(f"{document.relative_to(CHECKOUT)}: {linked}")
    assert "\n".join(lost) == ""
    assert count > 200
