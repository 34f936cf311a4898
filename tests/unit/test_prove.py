"""`run.py prove` counts cases and not tests, and a row that tries nothing has failed."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prove import suite
from prove.__main__ import main
from prove.row import Outcome, Row
from prove.rows import ON_REQUEST, ROWS
from prove.supervise import Elapsed, never_silent_for, no_longer_than, supervise

import drawn_cases
import left_to_prove
from sandbox import alive

ROOT = Path(__file__).parents[2]
REPORT = b"""<testsuites><testsuite>
<testcase name="a"/>
<testcase name="b"><properties><property name="cases" value="7"/></properties></testcase>
<testcase name="c"><properties><property name="cases" value="5"/>
<property name="failed" value="2"/></properties><failure/></testcase>
<testcase name="d"><error/></testcase>
<testcase name="e"><skipped/></testcase>
</testsuite></testsuites>"""


def test_cases_are_added_up() -> None:
    assert suite.counted(REPORT) == suite.Counts(cases=14, failed=3, skipped=1)


def test_a_test_that_failed_before_it_counted_is_a_failed_case() -> None:
    report = b'<testsuite><testcase><properties><property name="cases" value="3"/></properties>'
    counts = suite.counted(report + b"<failure/></testcase></testsuite>")
    assert counts == suite.Counts(cases=3, failed=1)


@pytest.mark.parametrize("select", ["tests/not_there.py", "tests/unit/test_hashing.py"])
def test_a_row_without_a_case_has_failed(select: str) -> None:
    outcome = suite.run(Row("nothing", (select,), only=("no_test_is_called_so",)), 1, workers=0)
    assert (outcome.cases, outcome.holds) == (0, False)
    assert "no case ran" in outcome.problem


def test_a_case_that_failed_fails_its_row() -> None:
    assert Outcome(cases=3, passed=3, seconds=1.0).holds
    assert not Outcome(cases=3, passed=2, seconds=1.0).holds
    assert not Outcome(cases=0, passed=0, seconds=1.0).holds


def test_a_law_of_something_large_says_how_it_failed() -> None:
    """Hypothesis warns before it shows 30 kB; that must not end the run that is to be shown."""

    @given(data=st.data())
    def law(large: str, data: st.DataObject) -> None:
        raise ZeroDivisionError(data.draw(st.integers()))

    with pytest.raises(ZeroDivisionError):
        law("x" * 100_000)


def test_every_row_names_tests_that_are_there() -> None:
    named = [path for row in ROWS.values() for path in row.select]
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def rows_of(nodeid: str) -> list[str]:
    """Return the rows that try a test, as pytest's -k would choose it."""
    return [
        name
        for name, row in ROWS.items()
        if nodeid.startswith(row.select)
        and not nodeid.startswith(row.ignore)
        and not any(word.lower() in nodeid.lower() for word in row.leave_out)
        and (not row.only or any(word.lower() in nodeid.lower() for word in row.only))
    ]


def test_what_the_suite_leaves_out_is_in_a_row() -> None:
    texts = {name.split("::")[0]: "" for name in left_to_prove.KEPT}
    for path in texts:
        texts[path] = (ROOT / path).read_text(encoding="utf-8")
    gone, nowhere = [], []
    for name in left_to_prove.KEPT:
        path, *within, function = name.split("::")
        defined = within[-1] if function == "runTest" else f"def {function}("  # a state machine's
        gone += [name] * (defined not in texts[path])
        nowhere += [name] * (not rows_of(name) and not rows_of(f"{name}[err:EIO]"))
    assert (gone, nowhere) == ([], []), "no test of that name; no row tries it"


def test_what_the_suite_keeps_is_there(request: pytest.FixtureRequest) -> None:
    """A case whose name has changed would be left out without a word."""
    there = {item.nodeid for item in request.session.items}
    wanted = [
        f"{name}[{case}]"
        for name, cases in left_to_prove.KEPT.items()
        for case in cases
        if any(each.startswith(f"{name}[") for each in there)
    ]
    assert [each for each in wanted if each not in there] == []
    left = {each for each in there if left_to_prove.is_left(each)}
    assert left_to_prove.ALL or not left


class Item(NamedTuple):
    nodeid: str


TABLE = [Item(f"tests/test_a.py::test_a[{number}]") for number in range(11)]
ALONE = [Item("tests/test_a.py::test_b"), *(Item(f"tests/test_a.py::test_c[{n}]") for n in "123")]


def drawn(monkeypatch: pytest.MonkeyPatch, seed: int) -> list[str]:
    monkeypatch.setenv("SIDING_FAULTS_SEED", str(seed))
    return [item.nodeid for item in drawn_cases.drawn([*TABLE, *ALONE], 0.5)]


def test_parts_do_not_overlap_and_are_all_together() -> None:
    items = [*TABLE, *ALONE]
    parts = [drawn_cases.part(items, f"{number}/3") for number in (1, 2, 3)]
    assert sorted(each.nodeid for part in parts for each in part) == sorted(
        each.nodeid for each in items
    )
    assert all(parts)
    assert drawn_cases.part(items, "1/1") == items


@pytest.mark.parametrize("named", ["4/3", "0/3", "2", "a/b", "/", "-1/3", "1/2/3"])
def test_what_names_no_part_is_refused(named: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "rest", f"--part={named}"])
    assert "a part is K/N" in capsys.readouterr().err


def test_without_a_part_all_of_a_row_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run(_row: Row, _seed: int, *, every: bool, part: str) -> Outcome:
        asked.append(f"{every} {part}")
        return Outcome(cases=1, passed=1, seconds=0.0)

    monkeypatch.setattr(suite, "run", run)
    assert main(["--only", "rest"]) == 0
    assert main(["--only", "rest", "--part", "2/3"]) == 0
    assert asked == ["False ", "False 2/3"]


def test_of_a_long_table_a_share_is_drawn_and_of_others_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SIDING_FAULTS", raising=False)
    taken = drawn(monkeypatch, 1)
    assert len(taken) == 6 + len(ALONE)
    assert taken[6:] == [item.nodeid for item in ALONE]
    assert drawn(monkeypatch, 1) == taken
    found = {nodeid for seed in range(20) for nodeid in drawn(monkeypatch, seed)}
    assert found == {item.nodeid for item in [*TABLE, *ALONE]}
    monkeypatch.setenv("SIDING_FAULTS", "every")
    assert len(drawn(monkeypatch, 1)) == len(TABLE) + len(ALONE)


def test_the_rest_is_what_no_other_row_of_the_usual_table_tries() -> None:
    by_others = [rows_of(f"{path.rstrip('/')}/test_x.py") for path in ROWS["rest"].ignore]
    assert by_others
    assert all(set(names) - set(ON_REQUEST) and "rest" not in names for names in by_others)


def test_a_proof_tries_what_the_suite_leaves_out() -> None:
    name = "tests/faults/test_commands_kill.py::test_killed_at_any_call"
    assert left_to_prove.is_left(f"{name}[init]")
    assert not left_to_prove.is_left(f"{name}[run]")
    assert not left_to_prove.is_left("tests/faults/test_commands_kill.py::another[init]")
    assert suite.ALL == {"SIDING_PROVE": "1"}


HANGS = """
import os, pathlib, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
import stacks
stacks.offer()
stacks.say("tests/test_it.py::test_that_hangs[case]")
sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
one = subprocess.Popen(sleeping, start_new_session=True)
print("began", flush=True)
pathlib.Path(sys.argv[2]).write_text(str(one.pid))
def a_function_that_waits():
    time.sleep(600)
a_function_that_waits()
"""


def test_who_takes_too_long_says_where_it_is_and_is_killed_with_all_it_began(
    tmp_path: Path,
) -> None:
    begun = tmp_path / "begun"
    ended = supervise(
        [sys.executable, "-c", HANGS, str(ROOT / "tests"), str(begun)],
        cwd=tmp_path,
        env=dict(os.environ),
        late=lambda _: "it hangs" if begun.exists() and begun.read_text() else "",
    )
    assert (ended.status, ended.late, ended.said) == (-signal.SIGKILL, "it hangs", "began\n")
    assert "tests/test_it.py::test_that_hangs[case]" in ended.stacks
    assert "in a_function_that_waits" in ended.stacks
    while alive(int(begun.read_text())):  # a signal takes a moment to arrive
        time.sleep(0.01)


def test_a_process_that_is_left_behind_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It holds the output; whoever read a pipe would wait for it."""
    leave = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid)"
    ended = supervise(
        [sys.executable, "-c", leave], cwd=tmp_path, env=dict(os.environ), late=lambda _: ""
    )
    os.kill(int(ended.said), signal.SIGKILL)
    assert (ended.status, ended.late) == (0, "")


def test_how_long_is_too_long() -> None:
    assert no_longer_than(900)(Elapsed(running=900, silent=0)) == ""
    assert no_longer_than(900)(Elapsed(running=901, silent=0)) == "took longer than 900 s"
    assert never_silent_for(600)(Elapsed(running=9000, silent=600)) == ""
    assert never_silent_for(600)(Elapsed(running=9000, silent=601)) == "no test ended for 600 s"


def test_a_row_that_takes_too_long_has_failed_and_says_where(tmp_path: Path) -> None:
    test = tmp_path / "test_hangs.py"
    test.write_text("import time\ndef test_it():\n    time.sleep(600)\n")
    row = Row("nothing", (str(test),), deadline_s=0)
    outcome = suite.run(row, 1, workers=0)
    assert (outcome.cases, outcome.holds) == (0, False)
    assert outcome.problem.startswith("took longer than 0 s")
