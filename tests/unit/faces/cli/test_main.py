"""What `main` makes of a command line: pages, mistakes, exit statuses."""

import signal
from pathlib import Path

import pytest

from sandbox import Sandbox
from siding import __version__
from siding.faces.cli.table import BARE, GROUPS, VERBS
from unit.faces.cli.in_process import CommandLine


def test_the_version(siding: CommandLine) -> None:
    for word in ("--version", "-V", "version"):
        assert siding(word).out == f"siding {__version__}\n"


def test_the_overview_names_every_verb_and_group(siding: CommandLine) -> None:
    for words in (("--help",), ("-h",), ("help",)):
        page = siding(*words).out
        assert all(f"\n  {name} " in page for name in [*VERBS, *GROUPS])


def test_the_page_of_a_group_names_its_verbs(siding: CommandLine) -> None:
    for group, (_about, verbs) in GROUPS.items():
        page = siding(group, "--help").out
        assert page.startswith(f"usage: siding {group} COMMAND")
        assert all(f"\n  {verb} " in page for verb in verbs)
        assert siding("help", group).out == page
        if group not in BARE:
            assert siding(group, status=2).out == page  # no verb is a usage error
        else:  # it is one of its verbs
            assert siding(group).err == siding(group, BARE[group]).err


def test_the_page_of_a_verb(siding: CommandLine) -> None:
    page = siding("help", "log").out
    assert page.startswith("usage: siding log ")
    assert "--limit" in page
    assert siding("log", "--help").out == page


def test_a_mistake_in_the_words_is_2_and_is_explained(siding: CommandLine) -> None:
    siding("init")
    for words, complaint in (
        (("sttaus",), "siding has no command 'sttaus'\n  hint: did you mean `siding status`?"),
        (("zzz",), "siding has no command 'zzz'\n  hint: `siding --help` lists them"),
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

    monkeypatch.setattr("siding.faces.cli.feed.projects.INIT.run", broken)
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
