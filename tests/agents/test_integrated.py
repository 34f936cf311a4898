"""Real agents that a person starts by themselves, after `siding integrate`."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.conftest import (
    AgentAtWork,
    ClaudeAtWork,
    CodexAtWork,
    GeminiAtWork,
    agent_named,
    at_work,
)
from sandbox import Sandbox


@pytest.fixture(params=[ClaudeAtWork, CodexAtWork, GeminiAtWork], ids=lambda kind: kind.name)
def agent(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[AgentAtWork]:
    """Each agent that can be integrated, in a new task."""
    found = at_work(sandbox, request.param)
    yield found
    found.close()


def alone(agent: AgentAtWork, prompt: str, where: Path, **env: str) -> None:
    """Have one prompt answered by the agent, started in a directory without Siding."""
    done = subprocess.run(
        agent.words(prompt),
        cwd=where,
        env={**agent.task.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)


def integrate(agent: AgentAtWork, *more: str) -> str:
    return agent.task.siding("integrate", agent.name, "--yes", *more).stderr.decode()


def workspace(agent: AgentAtWork) -> Path:
    return Path(agent.task.siding("path").stdout.decode().strip())


def turns(task: Sandbox) -> list[dict[str, Any]]:
    found = json.loads(task.siding("turns", "--json").stdout)
    assert isinstance(found, list)
    return found


def content_of(directory: Path) -> Mapping[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def lay_out_oddly(agent: AgentAtWork) -> Path:
    """Write the settings as no program would, with what this agent passes over."""
    if agent.name == "codex":
        file = agent.settings / "config.toml"
        own = file.read_bytes() if file.exists() else b""
        file.write_bytes(b"# mine\r\n" + own)
        return file
    file = agent.settings / "settings.json"
    text = file.read_text() if file.exists() else "{}"
    compact = json.dumps({**json.loads(text), "hooks": {"Stop": []}}, separators=(",", ":"))
    if agent.name == "gemini":
        compact = f"// {{ mine\n{compact[:-1]} /* the end, */\r\n\t}}"
    file.write_bytes(compact.encode())
    return file


def test_in_a_workspace_each_turn_is_a_step(agent: AgentAtWork) -> None:
    lay_out_oddly(agent)
    integrate(agent)
    here = workspace(agent)
    (here / "mine.txt").write_text("written before the prompt\n")
    agent.says([agent.shell("echo one > one.txt")], ["Done."])
    alone(agent, "Write one", here)

    step = agent.turns[-1]
    assert step["prompt"] == "Write one"
    assert step["agent"] == agent.name
    assert "run" not in step
    assert step["diff_stat"]["file_list"] == ["one.txt"]  # and not the person's own

    agent.task.siding("undo")
    assert not (here / "one.txt").exists()
    assert (here / "mine.txt").exists()
    model = agent.says(["I see."])
    session = step["session"]
    done = subprocess.run(
        agent.again(session, "And now?"),
        cwd=here,
        env=agent.task.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Taken back: your work on “Write one”" in json.dumps(
        model.requests[-1], ensure_ascii=False
    ).replace('\\"', '"')


def test_in_a_checkout_turns_are_beside_the_branch(agent: AgentAtWork) -> None:
    integrate(agent)
    task = agent.task
    (task.repo / "README").write_text("changed by hand\n")
    task.git("add", "README")
    (task.repo / "README").write_text("changed again\n")
    before = task.git("status", "--porcelain=v2", "--branch")
    refs = task.git("for-each-ref")

    agent.says([agent.shell("echo one > one.txt")], ["Done."])
    alone(agent, "Write one", task.repo)
    agent.says([agent.shell("git add one.txt && git commit -qm one one.txt")], ["Done."])
    alone(agent, "Commit it", task.repo)
    agent.says(["Nothing to do."])
    alone(agent, "What now?", task.repo)

    found = turns(task)
    assert [each["prompt"] for each in found] == ["Write one", "Commit it", "What now?"]
    assert [each["files"] for each in found] == [1, 0, 0]
    patch = task.siding("turns", "1").stdout.decode()
    assert "+one" in patch
    assert "README" not in patch
    # But for what the agent has done, the checkout is as it was, staged files included.
    task.git("reset", "--soft", "HEAD^")
    task.git("rm", "-q", "--cached", "one.txt")
    (task.repo / "one.txt").unlink()
    assert task.git("status", "--porcelain=v2", "--branch") == before
    assert task.git("for-each-ref") == refs
    assert not agent.turns


def test_in_a_run_its_own_hooks_report_alone(agent: AgentAtWork) -> None:
    integrate(agent)
    agent.says([agent.shell("echo one > one.txt")], ["Done."])
    agent.prompt("Write one")
    assert [step["prompt"] for step in agent.turns] == ["Write one"]
    assert agent.turns[-1]["run"]


def test_elsewhere_nothing_is_recorded(agent: AgentAtWork, tmp_path: Path) -> None:
    integrate(agent)
    home = Path(agent.task.env["SIDING_HOME"])
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    before = content_of(home)
    agent.says([agent.shell("echo one > one.txt")], ["Done."])
    alone(agent, "Write one", other)
    assert (other / "one.txt").exists()
    assert content_of(home) == before


def test_taken_out_again_the_settings_are_as_before(agent: AgentAtWork) -> None:
    file = lay_out_oddly(agent)
    text = file.read_bytes()
    integrate(agent)
    assert file.read_bytes() != text
    integrate(agent, "--remove")
    assert file.read_bytes() == text
    agent.says([agent.shell("echo one > one.txt")], ["Done."])
    alone(agent, "Write one", workspace(agent))
    assert not agent.turns


OLD = "session-2020-01-01T00-00-abcdef12.jsonl"


def test_gemini_keeps_old_conversations(sandbox: Sandbox) -> None:
    """By itself it removes those of more than a month as it starts."""
    with agent_named(sandbox, "gemini") as agent:
        here = workspace(agent)
        integrate(agent)
        first = conversation(agent, here)
        old = first.with_name(OLD)
        then = b"2020-01-01T00:00:00.000Z"
        lines = first.read_bytes().splitlines()
        head = {**json.loads(lines[0]), "startTime": then.decode(), "lastUpdated": then.decode()}
        updates = [json.dumps({"$set": {"lastUpdated": then.decode()}}).encode()]
        old.write_bytes(b"\n".join([json.dumps(head).encode(), *lines[1:], *updates, b""]))
        conversation(agent, here)
        assert old.exists()
        integrate(agent, "--remove")
        conversation(agent, here)
        assert not old.exists()


def conversation(agent: AgentAtWork, where: Path) -> Path:
    """Have a prompt answered in a new conversation, and return the newest file of one."""
    agent.says(["Hello."])
    alone(agent, "Hello", where)
    found = agent.settings.glob("tmp/*/chats/session-*.jsonl")
    return max(found, key=lambda path: path.stat().st_mtime)
