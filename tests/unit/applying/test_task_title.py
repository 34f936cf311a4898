"""What a task's published work is called, and which words are not published."""

from types import SimpleNamespace

import pytest

from siding.applying.task_title import title_of
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
    assert title(told) == made
    asked(told, " \n")
    assert title(told) == made
    asked(told, "do it\nand more")
    asked(told, "again")
    assert title(told) == "do it"
    assert title(told, made[:40] + " cut by another release") == "do it"
    assert title(told, made[:39] + "?") == made[:39] + "?"
    told.back(2)
    assert title(told) == made
    asked(told, "third")
    assert title(told) == "third"


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
