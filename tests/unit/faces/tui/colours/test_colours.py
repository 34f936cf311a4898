"""Colours of whole files, and the process that finds them."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]

from siding.faces.tui.colours.colours import Colours
from siding.faces.tui.colours.lexer_process import Helper, HelperFailed
from siding.faces.tui.colours.lexing import colours_of
from siding.faces.tui.colours.packed import KINDS, FileColours
from siding.faces.tui.rows.styles import names

SOURCES = {
    "a.py": '"""Two\nlines."""\r\n\n@wraps\ndef f(x: int) -> str:\n\treturn f"a{x}" # no\n\n\n',
    "b/a.js": "/* open\nstill */ const x = `a\n${1}`;\n",
    "CMakeLists.txt": "set(A 1) # x\n",
    "x.html": "\ufeff<b class='y'>é日</b>\n",
    "empty.py": "\n",
}
PIECES = st.sampled_from(['"""', "'", "\n", "# a", "def f", "1.5", " ", "\r\n", "日", "\t", "x"])


def tokens_by_line(name: str, text: str) -> list[str]:
    """Return a letter for each character of each line: its kind, by pygments itself."""
    lexer = get_lexer_for_filename(name.rpartition("/")[2], stripnl=False, ensurenl=False)
    wanted = {
        "Token.Comment": 0,
        "Token.Keyword": 1,
        "Token.Literal.String": 2,
        "Token.Literal.Number": 3,
        "Token.Name.Function": 4,
    }
    shown = ""
    for _at, token, value in lexer.get_tokens_unprocessed(text.replace("\r", " ")):
        kind = next((kind for each, kind in wanted.items() if str(token).startswith(each)), None)
        letter = "." if kind is None else str(kind)
        shown += "".join(each if each == "\n" else letter for each in value)
    return shown.split("\n")


def letters(found: FileColours, text: str) -> list[str]:
    """Return the same of what was found; kinds that `tokens_by_line` does not know are dots."""
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        shown = ["."] * len(line)
        for start, end, style in found.line(number):
            kind = KINDS.index(style)
            shown[start:end] = [str(kind) if kind < 4 else shown[start]] * (end - start)
        lines.append("".join(shown))
    return lines


def without(lines: list[str]) -> list[str]:
    return [line.replace("4", ".") for line in lines]


@pytest.mark.parametrize("name", SOURCES)
def test_each_line_has_the_colours_that_it_has_in_the_whole_file(name: str) -> None:
    text = SOURCES[name]
    found = colours_of(name, text)
    assert found is not None
    if name != "x.html":  # its tags are keywords here
        assert letters(found, text) == without(tokens_by_line(name, text))
    again = FileColours.from_bytes(*found.as_bytes())
    assert [again.line(at) for at in range(12)] == [found.line(at) for at in range(12)]
    assert (again.line(0), again.line(999)) == ([], [])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_so_has_any_other_text(text: str) -> None:
    found = colours_of("a.py", text)
    assert found is not None
    assert letters(found, text) == without(tokens_by_line("a.py", text))


def test_an_unknown_language_and_a_very_long_line() -> None:
    assert colours_of("x.unknown-ending", "x") is None
    found = colours_of("a.py", "x" * 70_000 + ' "a"\n1\n')
    assert found is not None
    assert (found.line(1), len(found.line(2))) == ([], 1)
    assert set(KINDS) <= set(names())


def test_broken_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="no colours"):
        FileColours.from_bytes(b"\1\0\0\0", b"")


@pytest.fixture
def helper() -> Helper:
    return Helper(env=dict(os.environ))


def test_the_helper_is_started_when_it_is_asked_and_again_after_it_died(helper: Helper) -> None:
    assert not helper.is_running
    try:
        found = helper.ask("a.py", SOURCES["a.py"])
        assert found is not None
        assert found.line(1) == [(0, 6, "c-string")]
        assert helper.ask("x.unknown-ending", "x") is None
        assert helper._program is not None
        os.killpg(helper._program._program.pid, signal.SIGKILL)
        with pytest.raises(HelperFailed, match=r"ended|Broken"):
            helper.ask("a.py", "1")
        assert not helper.is_running
        assert helper.ask("a.py", "1") is not None
    finally:
        helper.end()
    assert not helper.is_running


SILENT = "import time; time.sleep(60)"
WRONG = "import sys; sys.stdin.readline(); print('{}'); sys.stdout.flush(); sys.stdin.read()"


@pytest.mark.parametrize("program", [SILENT, WRONG, "raise SystemExit(3)"])
def test_a_helper_that_does_not_answer_is_ended(program: str) -> None:
    helper = Helper(env={}, argv=(sys.executable, "-c", program), patience_s=0.2)
    for _ in range(2):
        with pytest.raises(HelperFailed):
            helper.ask("a.py", "1")
        assert not helper.is_running


def test_a_helper_that_cannot_be_started_is_a_failure() -> None:
    with pytest.raises(HelperFailed, match="cannot be started"):
        Helper(env={}, argv=("/nowhere/at/all",)).ask("a.py", "1")


class Counted(Helper):
    """A helper without a process; it fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__(env={})
        self.asked: list[str] = []
        self.ended = 0
        self._failures = failures

    def ask(self, name: str, text: str) -> FileColours | None:
        self.asked.append(name)
        if len(self.asked) <= self._failures:
            raise HelperFailed("died")
        return colours_of(name, text)

    def end(self) -> None:
        self.ended += 1


def given_text(text: str | None) -> Callable[[], str | None]:
    return lambda: text


def test_a_blob_is_read_and_coloured_once() -> None:
    helper = Counted()

    async def act() -> None:
        colours = Colours({}, helper=helper)
        assert colours.get("b1", "src/a.py") is None
        both = (colours.find("b1", f"{where}/a.py", given_text("1")) for where in "xy")
        first, second = await asyncio.gather(*both)
        assert first is not None
        assert first is second is colours.get("b1", "other/a.py")
        assert helper.asked == ["x/a.py"]
        assert await colours.find("b1", "a.txt", given_text("1")) is not first
        assert await colours.find("", "a.py", given_text("1")) is None
        assert await colours.find("b2", "a.py", given_text(None)) is None
        assert await colours.find("b2", "a.py", given_text("1")) is None, "it was not there"
        await colours.close()

    asyncio.run(act())


def test_after_a_death_it_is_plain_and_then_tried_again() -> None:
    helper = Counted(failures=1)

    async def act() -> None:
        colours = Colours({}, helper=helper)
        assert await colours.find("b", "a.py", given_text("1")) is None
        assert await colours.find("b", "a.py", given_text("1")) is not None
        await colours.close()

    asyncio.run(act())


def test_a_file_that_kills_the_helper_twice_is_not_tried_a_third_time() -> None:
    helper = Counted(failures=9)

    async def act() -> None:
        colours = Colours({}, helper=helper)
        for _ in range(4):
            assert await colours.find("b", "a.py", given_text("1")) is None
        assert len(helper.asked) == 2
        await colours.close()

    asyncio.run(act())


def test_an_idle_helper_is_ended() -> None:
    helper = Counted()

    async def act() -> None:
        colours = Colours({}, helper=helper, idle_s=0.02)
        await colours.find("b", "a.py", given_text("1"))
        assert helper.ended == 0
        until = time.monotonic() + 5
        while not helper.ended and time.monotonic() < until:
            await asyncio.sleep(0.01)
        assert helper.ended == 1
        await colours.close()

    asyncio.run(act())


def test_closing_ends_a_helper_in_the_middle_of_a_file(tmp_path: Path) -> None:
    mark = tmp_path / "asked"
    program = f"import sys; sys.stdin.readline(); open({str(mark)!r}, 'w').close(); {SILENT}"
    helper = Helper(env={}, argv=(sys.executable, "-c", program), patience_s=60)

    async def act() -> None:
        colours = Colours({}, helper=helper)
        asked = asyncio.ensure_future(colours.find("b", "a.py", given_text("1")))
        while not mark.exists():
            await asyncio.sleep(0.01)
        await colours.close()
        assert await asked is None

    begun = time.monotonic()
    asyncio.run(act())
    assert not helper.is_running
    assert time.monotonic() - begun < 30
