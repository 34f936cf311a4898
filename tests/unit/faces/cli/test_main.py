"""What `main` makes of a command line: pages, mistakes, exit statuses."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox import Sandbox
from siding import __version__
from siding.faces.cli.habits import INSTEAD, MEANT
from siding.faces.cli.table import (
    BARE,
    EVERY_DAY,
    FOR_PROGRAMS,
    GROUPS,
    SECTIONS,
    VERBS,
)
from unit.faces.cli.in_process import CommandLine


def test_the_version(siding: CommandLine) -> None:
    for word in ("--version", "-V", "version"):
        assert siding(word).out == f"siding {__version__}\n"


def test_each_verb_and_group_has_one_place_in_the_overview() -> None:
    placed = [*EVERY_DAY, *FOR_PROGRAMS, *(name for names in SECTIONS.values() for name in names)]
    assert sorted(placed) == sorted([*VERBS, *GROUPS])


def test_the_overview_names_what_is_used_every_day_and_where_the_rest_is(
    siding: CommandLine,
) -> None:
    for words in (("--help",), ("-h",), ("help",), ("--help", "--help"), ("help", "-h")):
        page = siding(*words).out
        assert all(f"\n  {name} " in page for name in (*EVERY_DAY, *SECTIONS))
        listed = page.replace(",", " ").split()
        assert all(name in listed for names in SECTIONS.values() for name in names)
        assert not any(f"\n  {name} " in page for name in FOR_PROGRAMS)
    assert len(page.splitlines()) <= 32  # it fits on a screen


def test_help_all_says_what_every_command_does(siding: CommandLine) -> None:
    page = siding("help", "all").out
    assert all(f"\n  {name} " in page for name in [*VERBS, *GROUPS])
    assert all(f"{name}:\n" in page for name in SECTIONS)


@pytest.mark.parametrize("typed", MEANT)
def test_what_is_typed_by_habit_is_the_command_that_is_meant(
    siding: CommandLine, typed: str
) -> None:
    assert siding(*typed.split(), "--help").out == siding(*MEANT[typed].split(), "--help").out


@pytest.mark.parametrize("typed", INSTEAD)
def test_a_habit_with_several_meanings_is_answered_with_commands_that_are_there(
    siding: CommandLine, typed: str
) -> None:
    siding("init")
    said = siding(*typed.split(), "x", status=2).err
    assert said.startswith(f"siding: error: siding {typed} "[: -len(typed.split()[-1]) - 2])
    hint = said.partition("hint: ")[2]
    named = [each.split() for each in hint.split("`")[1::2]]
    assert named
    for words in named:
        assert words[0] == "siding"
        assert words[1] in VERBS or words[1] in GROUPS
        if words[1] in GROUPS and len(words) > 2:
            assert words[2] in GROUPS[words[1]][1]


def test_the_page_of_a_group_names_its_verbs(siding: CommandLine) -> None:
    for group, (_about, verbs) in GROUPS.items():
        page = siding(group, "--help").out
        assert page.startswith(f"usage: siding {group} COMMAND")
        assert all(f"\n  {verb} " in page for verb in verbs)
        assert siding("help", group).out == page
        if group not in BARE:
            assert siding(group, status=2).out == page  # no verb is a usage error
        else:  # it is one of its verbs
            status = 3 if group == "comments" else 0  # only that one needs a project
            bare = siding(group, status=status)
            assert bare.err == siding(group, BARE[group], status=status).err


def test_the_page_of_a_verb(siding: CommandLine) -> None:
    page = siding("help", "log").out
    assert page.startswith("usage: siding log ")
    assert "--limit" in page
    assert siding("log", "--help").out == page


def test_a_mistake_in_the_words_is_2_and_is_explained(siding: CommandLine) -> None:
    siding("init")
    for words, complaint in (
        (("sttaus",), "siding has no command 'sttaus'\n  hint: did you mean `siding status`?"),
        (("zzz",), "siding has no command 'zzz'\n  hint: `siding help all` lists them"),
        (("task", "lst"), "siding task has no command 'lst'\n  hint: did you mean `siding task l"),
        (("--color=blue", "log"), "--color 'blue' is no choice"),
        (("log", "--limit", "-1"), "--limit -1 is negative"),
        (("run", "--timeout", "soon", "--", "true"), "--timeout 'soon' is not a time"),
        (("run",), "there is no command to run"),
        (("gc", "--budget", "much"), "--budget 'much' is not a size"),
        (("gc", "--older", "long"), "--older 'long' is not an age"),
    ):
        said = siding(*words, status=2)
        assert said.err.startswith(f"siding: error: {complaint}")
        assert said.out == ""


def test_words_that_a_verb_does_not_take_are_2(siding: CommandLine) -> None:
    said = siding("log", "--no-such-flag", status=2)
    assert "unrecognized arguments: --no-such-flag" in said.err


@pytest.mark.parametrize("more", ["--step", "--from", "--to"])
def test_two_points_and_another_one_are_too_many(siding: CommandLine, more: str) -> None:
    siding("task", "start", "work")
    said = siding("diff", "--between", "base", "last", more, "1", status=2)
    assert "--between names both points" in said.err


def test_a_place_that_is_no_repository_is_an_error(sandbox: Sandbox, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    said = CommandLine(sandbox.env, elsewhere)("status", status=1)
    assert "is not in a git repository" in said.err
    assert said.out == ""


def test_a_repository_that_is_no_project_is_3(siding: CommandLine) -> None:
    assert "hint: " in siding("log", status=3).err


def test_a_project_without_a_task_is_4_where_one_is_needed(siding: CommandLine) -> None:
    siding("init")
    assert "no task is active here" in siding("log", status=4).err


def test_flags_count_before_and_after_the_verb(sandbox: Sandbox, tmp_path: Path) -> None:
    from_outside = CommandLine(sandbox.env, tmp_path)
    assert from_outside("-C", "repo", "init").err != ""
    assert from_outside("-q", "-C", "repo", "task", "list").err == ""
    assert from_outside("task", "list", "-q", "-C", str(sandbox.repo)).err == ""


def test_a_bug_is_a_report_in_a_file_and_70(
    siding: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_arguments: object) -> int:
        raise ZeroDivisionError("an example")

    monkeypatch.setattr("siding.faces.cli.feed.INIT.run", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = siding("init", status=70)
    (report,) = tmp_path.glob("siding-bug-*.log")
    assert "this is a bug in Siding" in said.err
    assert str(report) in said.err
    assert "Traceback" not in said.err
    assert "ZeroDivisionError: an example" in report.read_text(encoding="utf-8")


def test_a_command_leaves_this_process_as_it_was(siding: CommandLine) -> None:
    here, on_ctrl_c = Path.cwd(), signal.getsignal(signal.SIGINT)
    siding("init")
    assert (Path.cwd(), signal.getsignal(signal.SIGINT)) == (here, on_ctrl_c)


class Ended(NamedTuple):
    status: int
    out: str
    err: str


def ended(before: str = "", *, status: int = 3, stdout: int = subprocess.PIPE) -> Ended:
    """Run a program that leaves with output that was not written yet."""
    program = (
        "import atexit, os, sys\n"
        "from siding.faces.cli.main import leave\n"
        "end = os._exit\n"
        "os._exit = lambda status: (os.write(2, b'at once'), end(status))\n"
        "print('said')\n"
        "atexit.register(print, 'at exit')\n"
        f"{before}\n"
        f"leave({status})\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
        text=True,
    )
    return Ended(done.returncode, done.stdout or "", done.stderr)


def test_a_process_ends_at_once_with_all_that_was_said(tmp_path: Path) -> None:
    assert ended() == Ended(3, "said\nat exit\n", "at once")
    with (tmp_path / "file").open("w") as file:
        assert ended(status=0, stdout=file.fileno()).status == 0
    assert (tmp_path / "file").read_text() == "said\nat exit\n"
    closed = ended("sys.stdout.close()\nsys.stdout = None\nsys.stderr.write('warned ')")
    assert (closed.status, closed.err) == (3, "warned at once")


@pytest.mark.parametrize(
    "before",
    [
        "sys.settrace(lambda *_: None)",  # coverage
        "sys.setprofile(lambda *_: None)",
        "import tempfile; tempfile.gettempdir()",
        "import _thread, time; _thread.start_new_thread(time.sleep, (60,)); time.sleep(0.1)",
    ],
)
def test_who_needs_the_ordinary_end_gets_it(before: str) -> None:
    found = ended(before)
    assert found == Ended(3, "said\nat exit\n", "")


def test_what_could_not_be_written_is_told_as_ever() -> None:
    with open("/dev/full", "wb") as full:
        found = ended(stdout=full.fileno())
    assert found.status == 120
    assert "No space left" in found.err
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert ended(stdout=writing).status == 120
    finally:
        os.close(writing)
