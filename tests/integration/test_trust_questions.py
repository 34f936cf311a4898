"""An agent in the background that asks on its screen whether a new folder is trusted.

It has no hooks until it has an answer, so it cannot report that it waits.
"""

import time
from collections.abc import Callable

import pytest

from sandbox import Sandbox

# As the agents draw it: Claude Code in lines with the cursor moved over the blanks.
SCREENS = {
    "claude": r"\r\n\033[2GQuick\033[8Gsafety\033[15Gcheck:\033[22GIs\033[25Gthis\033[30Ga\033[32G"
    r"project\033[40Gyou\033[44Gcreated\033[52Gor\033[55Gone\033[59Gyou\033[63Gtrust?\r\n",
    "codex": r"\033[2J\033[3;3HTrust this folder? Codex can read, edit, and run files\r\n  here",
    "gemini": r"\033[2J\033[3;1H | Do you trust the files in this folder?  |",
}
QUESTION = "whether you trust the folder it works in"


def until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("name", SCREENS)
def test_it_is_seen_until_it_is_answered(sandbox: Sandbox, name: str) -> None:
    programs = sandbox.directory / "programs"
    programs.mkdir()
    agent = programs / name
    goes_on = r"printf '\033[2J\033[Hready\r\n'"
    agent.write_text(f"#!/bin/sh\nprintf '{SCREENS[name]}'\nread answer\n{goes_on}\nread end\n")
    agent.chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    sandbox.siding("run", "--detach", "--tty", "--no-reports", "--no-sandbox", "--", name)

    def waits() -> list[str]:
        return [run["waits"] for run in sandbox.json("runs", "--format", "json")]

    until(lambda: waits() == [QUESTION])
    (entry,) = sandbox.json("inbox", "--json")
    assert (entry["kind"], entry["title"]) == ("agent", QUESTION)
    assert entry["command"].startswith("siding attach r1")
    sandbox.siding("send", "r1", "yes")
    until(lambda: waits() == [""])
    assert sandbox.json("inbox", "--json") == []
    sandbox.siding("send", "r1", "end")
    until(lambda: waits() == [])
