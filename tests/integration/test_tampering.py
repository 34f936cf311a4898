"""Whoever changes a record is shown by `siding verify`, also after further steps.

What leaves the anchor alone is found. Who rewrites the anchor as well is shown by a head that was
noted elsewhere, and by nothing else: that is asserted, too.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import Sandbox
from siding.ground.errors import SidingError

from .recorded_home import GONE, STEPS, TASK, Home
from .tamperings import DECLARED, FOUND, last_command


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("tampering"))


@pytest.fixture
def home(made: Home) -> Iterator[Home]:
    yield made
    made.put_back()


@pytest.mark.parametrize("tamper", FOUND, ids=lambda each: each.__name__)
def test_it_is_found_and_stays_found(home: Home, tamper: Callable[[Home], None]) -> None:
    tamper(home)
    said = home.verify(status=1)
    assert FOUND[tamper] in said
    assert "is whole" not in said
    # Whatever is recorded next must not make it good.
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true", status=None)
    assert "is whole" not in home.verify(status=1)


@pytest.mark.parametrize("tamper", DECLARED)
def test_only_a_noted_head_shows_it(home: Home, tamper: Callable[[Home], None]) -> None:
    tamper(home)
    assert "is whole" in home.verify(status=0)
    said = home.verify("--head", home.heads[-1], status=1)
    assert f"has no line with the hash {home.heads[-1]}" in said


# --- heads ------------------------------------------------------------------------------------


def test_a_head_noted_earlier_proves_what_was_there_then(home: Home) -> None:
    assert f"\nhead {home.heads[-1]}\n" in home.verify(status=0)
    assert "steps" not in home.verify("--head", home.heads[-1], status=0).partition("head")[2]
    said = home.verify("--head", home.heads[1].upper(), status=0)
    assert f"unchanged up to the head {home.heads[1]}; since then: 2 steps" in said
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    proof = home.sandbox.json("verify", "--head", home.heads[1], "--format", "json")
    assert (proof["whole"], proof["since"]) == (True, 3)
    assert proof["head"] not in home.heads
    assert home.sandbox.json("verify", "--format", "json")["since"] is None


def test_a_head_of_another_task_is_none_of_this_one(home: Home) -> None:
    other = home.sandbox.json("verify", "other", "--format", "json")["head"]
    assert "has no line with the hash" in home.verify("--head", other, status=1)


@pytest.mark.parametrize("given", ["", "abc", "g" * 64, "0" * 63, "0" * 65])
def test_what_is_no_head_is_refused(home: Home, given: str) -> None:
    said = home.verify("--head", given, status=2)
    assert "64 hexadecimal digits" in said
    assert "`siding verify` prints" in said


# --- what is no tampering ---------------------------------------------------------------------


def test_the_missing_newline_is_found_until_the_next_step_writes_it(home: Home) -> None:
    before = home.ledger.read_bytes()
    home.ledger.write_bytes(before[:-1])
    assert "the newline at its end is missing" in home.verify(status=1)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert home.ledger.read_bytes().startswith(before)
    assert "is whole" in home.verify(status=0)


@pytest.mark.parametrize("more", [b"\n", b"  \n\n", b'{"v":1,"step'])
def test_what_is_no_line_at_the_end_is_no_damage(home: Home, more: bytes) -> None:
    """White space, and the beginning of a line that was promised to nobody."""
    with home.ledger.open("ab") as file:
        file.write(more)
    assert "is whole" in home.verify(status=0)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "is whole" in home.verify(status=0)
    assert "unchanged up to" in home.verify("--head", home.heads[0], status=0)


def test_what_a_person_may_change_of_a_task_is_not_bound(home: Home) -> None:
    words = ("--owner", "ada", "-m", "what for", "--tags", "a,b", "--blocked-by", "other")
    home.sandbox.siding("task", "update", *words, "--force")
    assert "is whole" in home.verify(status=0)
    home.sandbox.siding("task", "close", "--keep")
    assert "is whole" in home.verify(TASK, status=0)
    home.sandbox.siding("task", "reopen", TASK)
    assert "is whole" in home.verify(TASK, "--head", home.heads[-1], status=0)


# --- ledgers of before ------------------------------------------------------------------------


def before_anchors(home: Home) -> None:
    """Make the record one of a version that had no anchors."""
    for number in range(len(home.lines())):
        home.edit(number, task=GONE)
    home.chain_again()
    home.anchor.unlink()


def test_a_ledger_of_before_is_anchored_by_its_next_step(home: Home) -> None:
    before_anchors(home)
    said = home.verify(status=0)
    assert "is not anchored yet" in said
    assert "the next step does it" in said
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    said = home.verify(status=0)
    assert "note" not in said
    assert json.loads(home.anchor.read_bytes())["lines"] == 5
    home.anchor.unlink()
    assert "ledger-head: is missing" in home.verify(status=1)


def of_another_tool(home: Home) -> None:
    """Make the lines those of a tool that has no chain."""
    for number in range(len(home.lines())):
        home.edit(number, task=GONE, prev=GONE)
    home.anchor.unlink()


def test_the_lines_of_another_tool_are_sealed_by_the_first_step(home: Home) -> None:
    of_another_tool(home)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "is whole" in home.verify(status=0)
    home.edit(1, exit_code=0)
    assert "the lines before it were changed" in home.verify(status=1)
    home.sandbox.siding("-q", "run", "--no-tty", "--", "true")
    assert "the lines before it were changed" in home.verify(status=1)


# --- a law ------------------------------------------------------------------------------------


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_record_is_whole_whose_bytes_are_not_as_they_were(
    made: Home, data: st.DataObject
) -> None:
    """Any change of bytes of the ledger or of an artifact, but what is no line at the end."""
    files = [made.ledger, *sorted(made.artifacts.iterdir())]
    path = data.draw(st.sampled_from(files))
    before = path.read_bytes()
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, min(len(before), start + 40)))
    put = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from([b"\n", b" ", b"\r\n", b"{"])))
    after = before[:start] + put + before[end:]
    more = after[len(before) :]
    is_no_line = path == made.ledger and after.startswith(before) and not more.strip(b" \t\r\v\f\n")
    is_torn = path == made.ledger and after.startswith(before) and b"\n" not in more
    path.write_bytes(after)
    try:
        proof = made.prove()
    except SidingError:
        return
    finally:
        path.write_bytes(before)
    assert proof.whole == (after == before or is_no_line or is_torn), (path.name, start, end, put)


# --- what others say of it --------------------------------------------------------------------


def test_the_doctor_and_the_next_step_say_it_too(home: Home) -> None:
    assert home.sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"
    last_command(home)
    said = home.sandbox.siding("doctor", "--check", status=1).stdout.decode()
    assert f"the record of task {home.id} was changed: ledger.jsonl:4" in said
    said = home.sandbox.siding("-q", "run", "--no-tty", "--", "true").stderr.decode()
    assert "the ledger is not as its anchor says" in said
    assert "`siding verify` says more" in said


def test_a_newer_anchor_is_refused_before_anything_begins(home: Home) -> None:
    home.change(home.anchor, version=99)
    before = home.ledger.read_bytes()
    said = home.sandbox.siding("run", "--no-tty", "--", "touch", "begun", status=1).stderr
    assert b"format version 99" in said
    assert not (home.sandbox.workspace() / "begun").exists()
    assert home.ledger.read_bytes() == before


# --- what happens to a task in its life -------------------------------------------------------


def test_a_record_stays_whole_through_the_life_of_its_task(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", TASK)
    for words in STEPS:
        sandbox.siding("-q", *words, status=None)
    head = sandbox.json("verify", "--format", "json")["head"]

    def is_whole() -> None:
        assert b"is whole" in sandbox.siding("verify", TASK, "--head", head).stdout
        assert b"note" not in sandbox.siding("verify", TASK).stdout

    sandbox.siding("task", "close", TASK, "--force")
    is_whole()
    sandbox.siding("gc")
    is_whole()
    sandbox.siding("task", "reopen", TASK)
    is_whole()
    moved = sandbox.directory / "moved"
    os.rename(sandbox.repo, moved)
    sandbox.repo = moved
    is_whole()
    sandbox.siding("-q", "run", "--no-tty", "-t", TASK, "--", "true")
    is_whole()
    sandbox.siding("task", "close", TASK, "--delete", "--force")
    sandbox.siding("task", "reopen", TASK)
    is_whole()


def test_the_anchor_outlives_lost_snapshots(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", TASK)
    sandbox.siding("-q", *STEPS[0])
    shutil.rmtree(sandbox.project / "snapshots.git" / "objects")
    sandbox.siding("doctor")
    said = sandbox.siding("verify", status=1).stdout.decode()
    assert "is missing" in said
    assert "anchor" not in said
