"""An agent in the background that asks on its screen whether a new folder is trusted.

It has no hooks until it has an answer, so it cannot report that it waits.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

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


def test_the_files_of_an_agent_that_reports_say_it(sandbox: Sandbox) -> None:
    """No screen is read: this one shows nothing."""
    programs = sandbox.directory / "programs"
    programs.mkdir()
    agent = programs / "claude"
    agent.write_text("#!/bin/sh\nread end\n")
    agent.chmod(0o755)
    login = {"ANTHROPIC_AUTH_TOKEN": "x", "CLAUDE_CONFIG_DIR": str(sandbox.directory / "else")}
    sandbox.env |= {"PATH": f"{programs}:{sandbox.env['PATH']}", **login}
    settings = Path(login["CLAUDE_CONFIG_DIR"], ".claude.json")
    settings.parent.mkdir()
    known = {"hasCompletedOnboarding": True, "projects": {}}

    def trust(*trusted: Path) -> None:
        projects = {str(each): {"hasTrustDialogAccepted": True} for each in trusted}
        settings.write_text(json.dumps({**known, "projects": projects}))

    def waits() -> list[str]:
        # Whoever looks may have other variables than the run has.
        runs = sandbox.siding("runs", "--format", "json", env={"CLAUDE_CONFIG_DIR": ""})
        return [run["waits"] for run in json.loads(runs.stdout)]

    trust()
    done = sandbox.siding("run", "--detach", "--tty", "--no-sandbox", "--", "claude")
    assert f"wait for you on its screen: {QUESTION}\n" in done.stderr.decode()
    assert waits() == [QUESTION]
    trust(sandbox.repo)
    assert waits() == [""]
    settings.write_text("{")  # nobody can tell, and nothing is on the screen
    assert waits() == [""]
    trust()
    assert waits() == [QUESTION]
    sandbox.siding("send", "r1", "end")
    until(lambda: waits() == [])
    trust(sandbox.repo)
    done = sandbox.siding("run", "--detach", "--tty", "--no-sandbox", "--", "claude")
    assert b"will wait for you" not in done.stderr
    trust()  # taken back: it does not ask any more
    assert waits() == [""]
    sandbox.siding("send", "r2", "end")


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
