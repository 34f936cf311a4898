"""What `siding` alone shows, and what it takes for granted of a terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from siding.faces.tui.frame import first_frame, keep_frame
from siding.faces.tui.outer import Eyes, Outer
from siding.faces.tui.start import Way, way_of
from siding.faces.tui.theme import (
    answer_in,
    answered,
    ask_background,
    background_of,
    is_ascii,
    palette_of,
)
from siding.ground.errors import UsageError
from siding.record.place.terminal_settings import TerminalSettings, terminal_settings
from siding.record.place.wiring import open_app

_XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("env", "said", "way"),
    [
        (_XTERM, "screen", Way.SCREEN),
        (_XTERM, "today", Way.TODAY),
        (_XTERM, "plain", Way.PLAIN),
        ({}, "screen", Way.PLAIN),
        ({"TERM": "dumb"}, "screen", Way.PLAIN),
        ({"TERM": "dumb"}, "today", Way.TODAY),
        ({**_XTERM, "SIDING_PLAIN": "1"}, "screen", Way.PLAIN),
        ({**_XTERM, "SIDING_PLAIN": "0"}, "screen", Way.SCREEN),
    ],
)
def test_the_way_is_decided_by_terminal_and_settings(
    env: Mapping[str, str], said: str, way: Way
) -> None:
    def found(*, at_terminal: bool = True, in_step: bool = False, plain: bool = False) -> Way:
        return way_of(env, at_terminal=at_terminal, in_step=in_step, plain=plain, said=said)

    assert found() is way
    assert found(at_terminal=False) is Way.TODAY
    assert found(in_step=True) is Way.TODAY
    assert found(at_terminal=False, plain=True) is Way.PLAIN


@pytest.mark.parametrize(
    ("env", "background", "wanted", "palette"),
    [
        (_XTERM, "", "auto", "dark"),
        (_XTERM, "light", "auto", "light"),
        (_XTERM, "light", "dark", "dark"),
        ({"TERM": "xterm"}, "light", "auto", "sixteen"),
        ({"TERM": "linux"}, "", "auto", "sixteen"),
        ({"TERM": "xterm-16color"}, "", "auto", "sixteen"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "light", "auto", "light"),
        ({**_XTERM, "NO_COLOR": "1"}, "light", "dark", "none"),
        ({**_XTERM, "NO_COLOR": ""}, "", "auto", "dark"),
    ],
)
def test_the_palette(env: Mapping[str, str], background: str, wanted: str, palette: str) -> None:
    assert palette_of(env, background, wanted) == palette


def test_the_background_is_that_of_the_answer_or_of_the_environment() -> None:
    answers = {
        b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?65;1c": "dark",
        b"\x1b]11;rgb:ffff/fafa/f0f0\x07\x1b[?1;2c": "light",
        b"\x1b]11;rgba:f/f/f/f\x07\x1b[?1;2c": "light",
        b"\x1b[?1;2c": "",
        b"": "",
    }
    for data, background in answers.items():
        assert answer_in(data) == (background, b"")
    assert answer_in(b"q\x1b]11;rgb:00/00/00\x07n\x1b[?1cx").typed == b"qnx"
    for said, background in {"15;0": "dark", "0;15": "light", "0;default;7": "light"}.items():
        assert background_of({"COLORFGBG": said}) == background
    assert background_of({"COLORFGBG": "0;8"}) == "dark"
    assert background_of({"COLORFGBG": "x"}) == background_of({}) == ""


def test_the_question_ends_at_the_answer_that_every_terminal_gives() -> None:
    asked, answers = os.pipe(), os.pipe()
    os.write(answers[1], b"\x1b]11;rgb:ff/ff/ff\x07\x1b[?65c")
    asked_at = ask_background(asked[1])
    assert answered(answers[0], asked_at, within_s=30).background == "light"
    assert os.read(asked[0], 100) == b"\x1b]11;?\x07\x1b[c"
    assert answered(answers[0], asked_at, within_s=0) == ("", b"")
    for fd in (*asked, *answers):
        os.close(fd)


def test_ascii_is_by_the_first_variable_that_is_set() -> None:
    assert is_ascii({"LC_ALL": "C", "LANG": "en_GB.UTF-8"})
    assert is_ascii({})
    assert not is_ascii({"LC_CTYPE": "C.utf8", "LANG": "C"})
    assert not is_ascii({"LC_ALL": "", "LANG": "de_DE.UTF-8"})


def test_settings_of_the_terminal_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    assert terminal_settings(config) == TerminalSettings()
    config.write_text("git:\n  trailers: false\n")
    assert terminal_settings(config) == TerminalSettings()
    config.write_text(
        "terminal:\n  open: off\n  theme: off\n  mouse: false\n"
        "  keys: {home.next: N, slot: [1, '2']}\n"
    )
    assert terminal_settings(config) == TerminalSettings(
        "today", "none", False, {"home.next": ("N",), "slot": ("1", "2")}
    )
    for wrong in ("open: maybe", "theme: [1]", "mouse: 3", "keys: n", "keys: {a: {}}", "colour: 1"):
        config.write_text(f"terminal:\n  {wrong}\n")
        with pytest.raises(UsageError, match=r"terminal\."):
            terminal_settings(config)
    config.write_text("terminal: on\n")
    with pytest.raises(UsageError, match="section"):
        terminal_settings(config)


def test_the_last_frame_is_shown_to_a_terminal_as_wide_and_is_only_text(tmp_path: Path) -> None:
    app = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
    assert first_frame(app, 40, 5).startswith("siding: reading")
    keep_frame(app, 40, ["one", "two\x1b[31m", "three"])
    assert first_frame(app, 40, 2) == "one\r\ntwo[31m"
    assert first_frame(app, 41, 2).startswith("siding: reading")
    assert (app.home.terminal_dir / "frame").stat().st_mode & 0o777 == 0o600


def test_what_is_said_to_the_terminal_beside_the_screen() -> None:
    bare, tmux, screen = Outer({}), Outer({"TMUX": "x"}), Outer({"STY": "x"})
    plain = bare.copied("hi")
    assert plain == "\x1b]52;c;aGk=\x07"
    assert tmux.copied("hi") == f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"
    long = bare.copied("h" * 300) or ""
    assert screen.copied("h" * 300) == f"\x1bP{long[:250]}\x1b\\\x1bP{long[250:]}\x1b\\"
    assert screen.copied("hi") == "\x1bP\x1b]52;c;aGk=\x07\x1b\\"
    assert bare.copied("x" * 100_001) is None
    assert bare.title(3) == "\x1b]2;(3) siding\x07"
    assert [each.focused for each in (Eyes.UNKNOWN, Eyes.HERE, Eyes.AWAY)] == [None, True, False]


# Each verb as far as its parser, then the day in a pipe, in one process.
_LOADS = """
import json, os, sys
from argparse import ArgumentParser
from siding.faces.cli import main
from siding.faces.cli.table import load
from unit.verb_imports import places
sys.argv[0] = "siding"
for place in places():
    load(place).add_arguments(ArgumentParser())
for words in ([], ["status"], ["today"], ["inbox"], ["runs"]):
    main.main(words)
print(json.dumps(sorted(sys.modules)))
"""


def test_no_verb_loads_the_screen(tmp_path: Path) -> None:
    tests = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", _LOADS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "SIDING_HOME": str(tmp_path), "PYTHONPATH": str(tests)},
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "siding.feed.today" in loaded
    wrong = [name for name in loaded if name.split(".")[0] in ("textual", "rich")]
    assert wrong + [name for name in loaded if name.startswith("siding.faces.tui.")] == []
