"""`siding acp` with acpx, a client for scripts, as it comes from its registry."""

import json
import subprocess
from collections.abc import Iterator

import pytest

from agents.editors.sdk import ACPX, NODE, stop_all
from integration.chat.talks import Conversation, conversation
from sandbox import SIDING, Sandbox

pytestmark = pytest.mark.skipif(NODE is None or not ACPX.exists(), reason="acpx is not installed")


@pytest.fixture
def talk(sandbox: Sandbox) -> Iterator[Conversation]:
    """A home in which `claude` is the scripted one."""
    with conversation(sandbox) as found:
        yield found
        stop_all(sandbox)


def _acpx(sandbox: Sandbox, *words: str) -> str:
    assert NODE is not None
    agent = " ".join([*SIDING, "acp", "--agent", "claude"])
    argv = [NODE, str(ACPX), "--ttl", "1", "--agent", agent, *words]
    done = subprocess.run(
        argv,
        env=sandbox.env,
        cwd=sandbox.repo,
        capture_output=True,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode in (0, 5), done.stderr.decode()  # 5: a permission was refused
    return done.stdout.decode()


def test_acpx_has_things_done_and_goes_on_in_another_process(talk: Conversation) -> None:
    sandbox = talk.sandbox
    said = _acpx(sandbox, "--approve-all", "exec", "run echo one >one.txt\nsay Done so.")
    assert "Done so." in said
    assert "end_turn" in said
    first = _tasks(sandbox)[-1]
    assert (sandbox.workspace(first) / "one.txt").read_text() == "one\n"
    (talk_of_first,) = sandbox.json("chat", "list", "-t", first, "--json")
    assert talk_of_first["state"] == "idle"  # acpx ends all descendants of what it has started
    _acpx(sandbox, "--deny-all", "exec", "run echo two >two.txt")
    (second,) = set(_tasks(sandbox)) - {first}
    assert not (sandbox.workspace(second) / "two.txt").exists()
    _acpx(sandbox, "sessions", "new")
    assert "Hello." in _acpx(sandbox, "prompt", "say Hello.")
    listed = json.loads(_acpx(sandbox, "--format", "json", "sessions", "list"))
    sessions = {each["sessionId"] for each in listed["sessions"]}
    assert sessions == {f"{each}.c1" for each in _tasks(sandbox)}
    assert len(sessions) == 3


def _tasks(sandbox: Sandbox) -> list[str]:
    return [each["id"] for each in sandbox.json("task", "list", "--format", "json")]
