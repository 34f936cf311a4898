"""Commands in the background, through BashOutput and KillShell."""

import asyncio
import time
from pathlib import Path

import pytest

from siding.assistant.tools.place import Place
from unit.assistant.tools.setting import Bench, lives, place_in, with_tools

_PATIENCE_S = 30


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path)


async def _begun(at: Bench, command: str) -> str:
    result = await at.call("Bash", command=command, run_in_background=True)
    return str(result.details["backgroundTaskId"])


async def _until(at: Bench, name: str, words: str) -> str:
    deadline = time.monotonic() + _PATIENCE_S
    shown = ""
    while words not in shown:
        assert time.monotonic() < deadline, shown
        shown += await at.text("BashOutput", bash_id=name, wait=1)
    return shown


def test_output_is_shown_once(place: Place) -> None:
    async def act(at: Bench) -> None:
        name = await _begun(at, "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two >&2")
        first = await _until(at, name, "one")
        assert first.startswith(f"{name} is running.\nstdout:\none")
        assert await at.text("BashOutput", bash_id=name) == f"{name} is running.\n(Nothing new.)"
        (at.root / "go").touch()
        rest = await _until(at, name, "completed")
        assert "two" in rest
        assert "one" not in rest
        ended = await at.call("BashOutput", bash_id=name)
        assert (ended.details["status"], ended.details["exitCode"]) == ("completed", 0)
        assert "had ended already" in await at.text("KillShell", shell_id=name)

    with_tools(place, act)


def test_a_filter_shows_some_lines_and_a_bad_one_all(place: Place) -> None:
    async def act(at: Bench) -> None:
        name = await _begun(at, "echo good; echo ERROR: x; echo fine; exit 3")
        other = await _begun(at, "echo good")
        third = await _begun(at, "echo good")
        for each in (name, other, third):
            await _ended(at, each)
        shown = await at.text("BashOutput", bash_id=name, filter="^ERROR")
        assert shown == f"{name} has failed with exit code 3.\nstdout:\nERROR: x"
        none = await at.text("BashOutput", bash_id=other, filter="no such")
        assert none.endswith("(There are new lines; the filter matches none of them.)")
        bad = await at.text("BashOutput", bash_id=third, filter="(")
        assert "The filter was not used." in bad
        assert bad.endswith("\ngood")

    with_tools(place, act)


async def _ended(at: Bench, name: str) -> None:
    shell = at.memory.shells.background()[name]
    deadline = time.monotonic() + _PATIENCE_S
    while shell.code is None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def test_much_output_is_stored_and_its_end_is_shown(place: Place) -> None:
    async def act(at: Bench) -> None:
        name = await _begun(at, "seq 1 400000")
        await _ended(at, name)
        shown = await at.text("BashOutput", bash_id=name)
        assert len(shown) < 16_000
        assert shown.endswith("\n400000")
        stored = Path(shown.partition("All of it is in ")[2].partition(".]")[0])
        assert stored.read_text().startswith("1\n2\n")

    with_tools(place, act)


def test_kill_ends_a_command_and_what_it_started(place: Place) -> None:
    async def act(at: Bench) -> None:
        name = await _begun(at, "sleep 300 & echo $!; wait")
        pid = (await _until(at, name, "stdout")).split()[-1]
        assert await at.text("KillShell", shell_id=name) == (
            f"{name} was ended: sleep 300 & echo $!; wait"
        )
        assert not lives(int(pid))
        assert "was ended" in await at.text("BashOutput", bash_id=name)
        unknown = await at.error("KillShell", shell_id="bash_9")
        assert unknown == f"There is no command 'bash_9' in the background. There are: {name}"

    with_tools(place, act)
