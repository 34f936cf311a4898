"""Running commands, through the tools."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Call, Progress
from siding.ground.process import job
from siding.shellguard.face import JudgingPlace
from unit.assistant.tools.setting import Bench, lives, place_in, with_tools

_PATIENCE_S = 30


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path)


async def _until(what: object) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not what():  # type: ignore[operator]
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def test_a_command_prints_and_fails(place: Place) -> None:
    async def act(at: Bench) -> None:
        assert await at.text("Bash", command="echo out; echo err >&2") == "out\nerr"
        assert await at.text("Bash", command="true") == "(It printed nothing.)"
        result = await at.call("Bash", command="echo no; exit 3")
        assert (result.is_error, result.content) == (True, "no\nExit code 3")
        assert result.details["stdout"] == "no\n"
        assert "Exit code 127" in await at.error("Bash", command="no-such-program")
        assert "Exit code 137" in await at.error("Bash", command="kill -9 $$")
        assert "Exit code 2" in await at.error("Bash", command="echo 'open")
        assert await at.text("Bash", command="cat; test -t 0 || echo none") == "none"
        assert "NUL" in await at.error("Bash", command="echo \0")
        assert "120,000" in await at.error("Bash", command="#" * 130_000)

    with_tools(place, act)


def test_the_next_command_begins_where_the_last_one_ended(place: Place) -> None:
    (place.workspace / "a 'b\n").mkdir()

    async def act(at: Bench) -> None:
        await at.text("Bash", command="cd 'a '*")
        assert (await at.text("Bash", command="pwd")).endswith("/work/a 'b")
        await at.error("Bash", command="cd ..; exit 1")
        assert await at.text("Bash", command="pwd") == str(at.root)
        assert "had left the workspace" in await at.text("Bash", command="cd /")
        assert await at.text("Bash", command="mkdir d; cd d; pwd") == f"{at.root}/d"
        await at.text("Bash", command="rmdir ../d")
        assert await at.text("Bash", command="pwd") == str(at.root)

    with_tools(place, act)


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(place: Place) -> None:
    async def act(at: Bench) -> None:
        command = "echo $$ >pid; (setsid sleep 300 & echo $! >other); echo begun; sleep 300"
        result = await at.call("Bash", command=command, timeout=1500)
        assert result.is_error
        assert result.details["interrupted"]
        assert str(result.content).startswith("begun\nIt was ended after 1.5 s.")
        for name in ("pid", "other"):
            assert not lives(int((at.root / name).read_text()))

    with_tools(place, act)


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_cancelling_leaves_no_process(
    place: Place, trap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trap:  # then only the signal that cannot be ignored ends it
        monkeypatch.setattr(job, "TERM_GRACE_S", 0.2)

    async def act(at: Bench) -> None:
        command = f"{trap}echo $$ >pid; sleep 300 & echo $! >other; while true; do wait; done"
        running = asyncio.create_task(at.call("Bash", command=command))
        other = at.root / "other"
        await _until(lambda: other.exists() and other.read_text())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        for name in ("pid", "other"):
            assert not lives(int((at.root / name).read_text()))

    with_tools(place, act)


def test_a_command_that_kills_its_parent_does_not_take_the_agent_along(place: Place) -> None:
    async def act(at: Bench) -> None:
        result = await at.call("Bash", command="kill -9 $PPID; sleep 0.2; echo $$ >pid; sleep 300")
        assert result.is_error
        assert await at.text("Bash", command="echo here") == "here"
        await _until((at.root / "pid").exists)
        assert "Exit code 1" in str((await at.call("Bash", command="kill 0; sleep 9")).content)

    with_tools(place, act)
    assert not lives(int((place.workspace / "pid").read_text()))


def test_what_a_command_leaves_behind_ends_with_the_agent(place: Place) -> None:
    async def act(at: Bench) -> None:
        shown = await at.text("Bash", command="sleep 300 & echo $! >pid; echo done")
        assert shown.startswith("done\nStill running, until this conversation ends: sleep")
        quiet = await at.text(
            "Bash", command="nohup setsid sleep 300 >/dev/null 2>&1 & echo $! >far; sleep 0.2"
        )
        assert "Still running" in quiet
        assert lives(int((at.root / "pid").read_text()))

    with_tools(place, act)
    for name in ("pid", "far"):
        assert not lives(int((place.workspace / name).read_text()))


def test_long_output_is_stored_and_its_ends_are_shown(place: Place) -> None:
    async def act(at: Bench) -> None:
        result = await at.call("Bash", command="seq 1 1000000")
        text = str(result.content)
        assert text.startswith("1\n2\n")
        assert text.endswith("\n1000000")
        assert len(text) < 31_000
        stored = Path(result.details["persistedOutputPath"])
        assert stored.read_text() == "".join(f"{n}\n" for n in range(1, 1_000_001))
        assert str(stored) in text
        short = await at.call("Bash", command="seq 1 10000")  # 48,894 characters: fits in memory
        assert Path(short.details["persistedOutputPath"]).read_text().endswith("\n10000\n")

    with_tools(place, act)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    place = place_in(tmp_path, tell=told.append)

    async def act(at: Bench) -> None:
        running = asyncio.create_task(
            at.call("Bash", command="echo building; while [ ! -e go ]; do sleep 0.05; done")
        )
        await _until(lambda: told)
        (at.root / "go").touch()
        await running

    with_tools(place, act)
    assert told[0] == Progress("toolu_1", "building")


@pytest.mark.parametrize(
    ("command", "is_safe"),
    [
        ("ls -la", True),
        ("cd src && git status; cat a | head -3 2>/dev/null", True),
        ("git log --oneline -5", True),
        ("sort a", True),
        ("sort -uo b a", False),
        ("sort a > b", False),
        ("echo $(rm x)", False),
        ("cat $HOME/.ssh/id_rsa", False),
        ("cat ~/.ssh/id_rsa", False),
        ("make test", False),
        ("find . -name x -delete", False),
        ("find . -name x", True),
        ("git diff --output=x", False),
        ("git -c core.pager=x log", False),
        ("ls &", False),
        ("X=1 ls", False),
        ("uniq a b", False),
        ("if ls; then rm x; fi", False),
        ("echo 'open", False),
        ("", False),
    ],
)
def test_only_what_plainly_reads_is_safe(tmp_path: Path, command: str, is_safe: bool) -> None:
    place = place_in(tmp_path)
    judging = JudgingPlace(
        cwd=str(place.workspace),
        workspace=str(place.workspace),
        home="/home/dev",
        agents=frozenset(),
        obeyed=(),
        temporary=(),
    )

    async def act(at: Bench) -> None:
        assert at.tools["Bash"].is_safe({"command": command}) is is_safe

    with_tools(place._replace(judging=judging), act)
    with_tools(place, lambda at: _unsafe(at, command))  # nothing is, where nobody can judge


async def _unsafe(at: Bench, command: str) -> None:
    assert not at.tools["Bash"].is_safe({"command": command})


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_no_descriptor_is_left_open(place: Place) -> None:
    async def act(at: Bench) -> None:
        await at.text("Bash", command="seq 1 300000")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            await at.text("Bash", command="seq 1 20000")
            await at.tools["Bash"].run(Call("x", "Bash", {"command": "echo"}))
        assert len(os.listdir("/proc/self/fd")) == before

    with_tools(place, act)
