"""What a task's published work is called, and which words are not published."""

from types import SimpleNamespace

import pytest

from integration.undo.desk import Desk
from siding.applying.task_title import task_trailers, title_of
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.runs.store import Runs
from siding.record.tasks.names import name_after_command

from .ledgers import Told

FIRST = ["/usr/bin/agent", "-p", "mend the parser of the whole language, and all of its tests"]


def title(told: Told, name: str | None = None) -> str:
    task = told.desk.task
    named = task._replace(name=name or name_after_command(FIRST))
    return title_of(told.desk.project, named, told.base)


def asked(told: Told, prompt: str, **more: object) -> None:
    told.line(CheckpointDetail(prompt=prompt), snapshot=told.base, **more)


def test_a_name_that_a_person_gave_stays(told: Told) -> None:
    assert title(told, "ours") == "ours"
    told.run(cmd=FIRST)
    assert title(told, "ours") == "ours"
    asked(told, "do it")
    assert title(told, "ours") == "ours"


def test_a_name_is_of_a_command_only_where_the_first_step_says_so(told: Told) -> None:
    asked(told, " \n")
    told.run(cmd=FIRST)
    asked(told, "do it")
    made = name_after_command(FIRST)
    assert title(told) == made


def test_a_name_that_is_of_no_command_stays_after_a_first_prompt(told: Told) -> None:
    asked(told, "do it")
    told.run(cmd=FIRST)
    assert title(told, "ours") == "ours"
    assert title(told) == "do it"


def test_the_first_prompt_that_stands_says_more_than_a_command(told: Told) -> None:
    made = name_after_command(FIRST)
    told.run(cmd=FIRST, snapshot=told.base)
    assert title(told) == FIRST[-1]
    asked(told, " \n")
    assert title(told) == FIRST[-1]
    asked(told, "do it\nand more")
    asked(told, "again")
    assert title(told) == "do it"
    assert title(told, made[:40] + " cut by another release") == "do it"
    assert title(told, made[:39] + "?") == made[:39] + "?"
    told.back(2)
    assert title(told) == FIRST[-1]
    asked(told, "third")
    assert title(told) == "third"


LONG = "mend the parser of the whole language, all of its tests, and what it says of errors"


@pytest.mark.parametrize(
    ("command", "published"),
    [
        (["claude", "-p", "fix the parser"], "fix the parser"),
        (["/opt/bin/codex", "exec", "mend src/a.py | b"], "mend src/a.py | b"),
        (["claude", "-p", "\n fix it\nand the rest"], "fix it"),
        (["fixbot", "fix the parser, too"], "fix the parser, too"),
        (["python3", "agent.py", "fix the parser"], "fix the parser"),
        (["claude", "-p", LONG], LONG[: LONG.index(" says")] + "…"),
        (["claude", "--model", "opus"], "claude"),
        (["claude"], "claude"),
        (["make", "build"], "make"),
        (["sed", "-i", "s/a b/c d/", "f"], "sed: s/a b/c d/"),
        (["bash", "-c", "echo x >> n.txt"], "bash: echo x >> n.txt"),
    ],
)
def test_a_command_gives_the_title_what_it_asks_for(
    told: Told, command: list[str], published: str
) -> None:
    told.run(cmd=command, snapshot=told.base)
    found = title(told, name_after_command(command))
    assert found == published
    assert len(found) <= 72
    assert title(told, "ours") == "ours"


@pytest.mark.parametrize("first", [{"run": "r1"}, {"origin": "running"}])
def test_turns_without_a_prompt_come_before_the_step_of_their_command(
    told: Told, first: dict[str, str]
) -> None:
    command = ["claude", "-p", "fix the parser"]
    told.line(CheckpointDetail(), snapshot=told.base, **first)
    told.run(cmd=command, snapshot=told.base)
    assert title(told, name_after_command(command)) == "fix the parser"
    assert title(told, "ours") == "ours"


def test_a_long_name_is_cut_at_a_word(told: Told) -> None:
    assert title(told, LONG) == LONG[: LONG.index(" says")] + "…"
    assert title(told, "x" * 72) == "x" * 72
    assert title(told, "x" * 73) == "x" * 71 + "…"


def test_lines_that_name_the_record_are_left_out_where_the_settings_say_so(told: Told) -> None:
    project, task = told.desk.project, told.desk.task
    named = (("Siding-Task", task.id), ("Siding-Steps", "0001"))
    assert task_trailers(project, task, "0001") == named
    assert task_trailers(project, task) == named[:1]
    (project.layout.root / "config.yaml").write_text("git: {trailers: false}\n")
    assert task_trailers(Desk.again(told.desk).project, task, "0001") == ()


def test_a_first_step_that_is_a_prompt_counts_with_a_run_that_lives(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = name_after_command(FIRST)
    asked(told, "do it")
    assert title(told) == made
    lives = [SimpleNamespace(cmd=()), SimpleNamespace(cmd=tuple(FIRST))]
    monkeypatch.setattr(Runs, "live", lambda _: lives)
    assert title(told) == "do it"


def test_a_command_that_was_gone_back_from_names_nothing(told: Told) -> None:
    told.run(cmd=FIRST, snapshot="12" * 20)
    told.back(None)
    assert title(told) == f"task {told.desk.task.id}"
    told.run(cmd=["make", "one"], snapshot=told.base)
    told.run(cmd=["ninja"], snapshot=told.base)
    told.apply()
    assert title(told) == "ninja"
    told.back(3)
    assert title(told) == "make"
