"""Python finds what ripgrep finds, in trees and with patterns that hypothesis makes."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.tools.place import Place
from siding.tools.search.choosing import Searcher, Source, choose
from siding.tools.search.request import Found, Mode, Request
from siding.tools.search.searching import Searches
from unit.tools.setting import place_in

# The two dialects differ elsewhere: in classes by property, in braces that are not escaped.
_PATTERNS = st.sampled_from(
    [
        "foo",
        "a",
        "^b",
        r"\d",
        "fo+$",
        "(a|1)",
        "[^a ]b",
        r"\bo",
        r"\w+ \w",
        r"\s$",
        "é",
        "o{2}",
        ".",
    ]
)
_LINES = st.sampled_from(["foo", "b", "a b", "", "FOO 1", "é x", "x", "foo\r", " ", "xob"])
_TEXTS = st.lists(_LINES, min_size=4, max_size=14).map("\n".join)
_CONTENTS = st.one_of(
    _TEXTS.map(str.encode),
    _TEXTS.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    _TEXTS.map(lambda text: text.encode("utf-16")),
    _TEXTS.map(lambda text: text.encode("latin-1")),
    st.just(b"foo\na\0b\n"),
    _TEXTS.map(lambda text: text.encode() + b"\n"),
)
_NAMES = (
    "a.py",
    "b.txt",
    "c.log",
    "d/a.py",
    "d/e/f.log",
    "d/keep.log",
    ".h/x",
    "no/a.py",
    "n\nl.py",
)
_RULES = ("*.log", "no/", "/a.py", "!keep.log", "d/*", "**/e", "*.py", ".h", "d/e/", "#x", "b.t?t")


@pytest.fixture(scope="module")
def ripgrep() -> Searcher:
    with tempfile.TemporaryDirectory() as scratch:
        found = choose(place_in(Path(scratch)))
    if found.source is Source.PYTHON:
        pytest.skip("there is no ripgrep here")
    return found


@settings(max_examples=30, deadline=None)
@given(
    files=st.dictionaries(st.sampled_from(_NAMES), _CONTENTS, min_size=2, max_size=4),
    pattern=_PATTERNS,
    more=st.fixed_dictionaries(
        {
            "mode": st.sampled_from([Mode.CONTENT, Mode.CONTENT, Mode.FILES, Mode.COUNT]),
            "any_case": st.booleans(),
            "before": st.integers(0, 2),
            "after": st.integers(0, 2),
            "names": st.sampled_from([(), (), ("*.py",), ("*.log", "a*")]),
        }
    ),
)
def test_both_find_the_same(
    ripgrep: Searcher, files: dict[str, bytes], pattern: str, more: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = place_in(Path(scratch))
        _make(place, files)
        request = Request(directory=place.workspace, pattern=pattern, ignores=False, **more)
        by_ripgrep = _find(place, ripgrep, request)
        in_python = _find(place, Searcher(Source.PYTHON), request)
    assert in_python == by_ripgrep


@settings(max_examples=20, deadline=None)
@given(
    rules=st.lists(st.sampled_from(_RULES), max_size=3),
    deeper=st.lists(st.sampled_from(_RULES), max_size=1),
    below=st.sampled_from(["", "", "d", "d/e", "no"]),
)
def test_both_ignore_the_same(
    ripgrep: Searcher, rules: list[str], deeper: list[str], below: str
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = place_in(Path(scratch))
        _make(place, dict.fromkeys(_NAMES, b"x"))
        for name in ("objects", "refs"):  # as much of a repository as git demands
            (place.workspace / ".git" / name).mkdir(parents=True)
        (place.workspace / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (place.workspace / ".gitignore").write_text("\n".join(rules))
        (place.workspace / "d/.gitignore").write_text("\n".join(deeper))
        request = Request(directory=place.workspace / below, mode=Mode.LIST)
        by_ripgrep = _find(place, ripgrep, request)
        in_python = _find(place, Searcher(Source.PYTHON), request)
    assert in_python == by_ripgrep


def _make(place: Place, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = place.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _find(place: Place, searcher: Searcher, request: Request) -> list[Any]:
    async def run() -> Found:
        return await Searches(place, searcher).find(request)

    return sorted(asyncio.run(run()).hits)


@settings(max_examples=20, deadline=None)
@given(
    content=_TEXTS.map(str.encode),
    pattern=st.lists(
        st.sampled_from(["a", "foo", r"\n", r"^b", "b.", r"[^a]", "o+$", "x?"]),
        min_size=1,
        max_size=3,
    ).map("".join),
    after=st.integers(0, 1),
)
def test_both_find_the_same_lines_of_matches_over_several(
    ripgrep: Searcher, content: bytes, pattern: str, after: int
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = place_in(Path(scratch))
        (place.workspace / "f").write_bytes(content)
        request = Request(
            directory=place.workspace,
            mode=Mode.CONTENT,
            pattern=pattern,
            multiline=True,
            after=after,
            file="f",
        )
        by_ripgrep = _find(place, ripgrep, request)
        in_python = _find(place, Searcher(Source.PYTHON), request)
    assert in_python == by_ripgrep
