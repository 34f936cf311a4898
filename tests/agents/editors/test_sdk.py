"""`siding acp` with the protocol's own SDK as its client, which checks each message."""

import base64
from collections.abc import Iterator

import pytest

from agents.conftest import agent_named
from agents.editors.sdk import NODE, SDK, Editor, stop_all
from agents.talking.rows import PICTURE, ROWS
from integration.chat.talks import Conversation, conversation
from sandbox import Sandbox

pytestmark = pytest.mark.skipif(NODE is None or not SDK.exists(), reason="the SDK is not installed")


@pytest.fixture
def talk(sandbox: Sandbox) -> Iterator[Conversation]:
    """A home in which `claude` is the scripted one."""
    with conversation(sandbox) as found:
        yield found
        stop_all(sandbox)


def _in_task(talk: Conversation, session: str) -> list[str]:
    return ["-t", session.partition(".")[0]]


def test_a_permission_is_answered_here_or_elsewhere_and_a_turn_undone(
    talk: Conversation,
) -> None:
    sandbox = talk.sandbox
    editor = Editor(sandbox, "--agent", "claude")
    session = editor.begins()
    task = _in_task(talk, session)
    first = editor.gives(session, "run echo one >one.txt\nsay done")
    asked = editor.asked(1)
    assert asked.params["toolCall"]["title"] == "echo one >one.txt"
    editor.answers(asked, "allow")
    assert editor.result(first) == {"stopReason": "end_turn"}
    second = editor.gives(session, "run echo two >two.txt\nsay done")
    ask = editor.asked(2)
    talk.says("answer", "--yes", *task)
    editor.until(lambda: ask.is_gone)
    assert editor.result(second) == {"stopReason": "end_turn"}
    third = editor.gives(session, "ask Which colour?\nsay done")
    editor.fills_in(editor.asked(3), "Blue")
    assert editor.result(third) == {"stopReason": "end_turn"}
    assert any("Blue" in str(each["update"].get("content")) for each in editor.updates)
    workspace = sandbox.workspace(session.partition(".")[0])
    assert sorted(each.name for each in workspace.glob("*.txt")) == [
        "hello.txt",
        "one.txt",
        "two.txt",
    ]
    for name in ("two.txt", "one.txt"):
        talk.until(lambda: sandbox.siding("undo", *task, status=None).returncode == 0)
        assert not (workspace / name).exists()
    editor.leaves()


def test_ten_prompts_with_what_an_editor_attaches_and_a_stop(talk: Conversation) -> None:
    editor = Editor(talk.sandbox, "--agent", "claude")
    assert editor.can["agentCapabilities"]["promptCapabilities"]["image"] is True
    session = editor.begins()
    link = {"type": "resource_link", "name": "a", "uri": (talk.sandbox.repo / "src/a.py").as_uri()}
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PICTURE).decode()}
    resource = {"type": "resource", "resource": {"uri": "file:///x/notes.md", "text": "Notes."}}
    for number in range(9):
        given = editor.gives(session, f"number {number} of", link, picture, resource)
        assert editor.result(given) == {"stopReason": "end_turn"}
        assert f"You said: number {number} of @src/a.py" in editor.text(session)
    assert "Notes." in editor.text(session)
    assert "+image" in editor.text(session)
    given = editor.gives(session, talk.busy)
    editor.until(lambda: "at work" in editor.text(session))
    editor.cancels(session)
    assert editor.result(given) == {"stopReason": "cancelled"}
    editor.leaves()


def test_a_model_an_effort_and_a_mode_are_chosen_from_lists(talk: Conversation) -> None:
    editor = Editor(talk.sandbox, "--agent", "claude")
    session = editor.begins()

    def options() -> dict[str, str]:
        told = [each["update"] for each in editor.updates if "configOptions" in each["update"]]
        return {each["id"]: each["currentValue"] for each in told[-1]["configOptions"]}

    editor.until(lambda: any("configOptions" in each["update"] for each in editor.updates))
    assert options() == {"mode": "default", "model": "small", "effort": "medium"}
    for kind, value in (("model", "large"), ("effort", "high"), ("mode", "plan")):
        chosen = {"sessionId": session, "configId": kind, "value": value}
        said = editor.does("session/set_config_option", **chosen)["configOptions"]
        assert next(each["currentValue"] for each in said if each["id"] == kind) == value
    assert "model large · mode plan · effort high" in talk.says("set", *_in_task(talk, session))
    talk.says("set", "--model", "small", *_in_task(talk, session))
    editor.until(lambda: options()["model"] == "small")
    editor.leaves()


def test_a_session_is_loaded_after_its_server_was_killed_in_a_turn(talk: Conversation) -> None:
    editor = Editor(talk.sandbox, "--agent", "claude")
    other = editor.begins()
    session = editor.begins()
    editor.result(editor.gives(session, "say Hello to you."))
    editor.gives(session, f"{talk.busy}\nrun echo late >late.txt\nsay It is done.")
    editor.until(lambda: "at work" in editor.text(session))
    editor.loses_its_server()
    talk.go.touch()
    again = Editor(talk.sandbox, "--agent", "claude")
    listed = again.does("session/list", cwd=str(talk.sandbox.repo))["sessions"]
    assert {each["sessionId"] for each in listed} == {session, other}
    again.does("session/load", sessionId=session, cwd=str(talk.sandbox.repo), mcpServers=[])
    assert "say Hello to you." in again.text(session, "user_message_chunk")
    again.answers(again.asked(1), "allow")  # the agent has gone on, and waits
    again.until(lambda: "It is done." in again.text(session))
    assert again.text(session).startswith("Hello to you.\nat work\n")
    assert again.result(again.gives(session, "say More.")) == {"stopReason": "end_turn"}
    again.leaves()


def test_codex_in_an_editor(sandbox: Sandbox) -> None:
    """Ten prompts, a permission, a stop, and a server that is killed in a turn."""
    row = ROWS["codex"]
    with agent_named(sandbox, "codex") as agent:
        row.prepare(agent)
        answers = [[f"Answer {number}."] for number in range(8)]
        agent.says(
            *answers,
            [agent.shell("echo one >one.txt")],
            ["One is there."],
            [agent.shell("sleep 600")],
            [agent.shell("echo two >two.txt")],
            ["Two is there."],
            ["That was all."],
        )
        words = ["--agent", "codex", *(f"--option={each}" for each in row.options(agent))]
        editor = Editor(sandbox, *words)
        session = editor.begins()
        for number in range(8):
            given = editor.gives(session, f"Prompt {number}")
            assert editor.result(given) == {"stopReason": "end_turn"}
        given = editor.gives(session, "Make one.txt")
        editor.answers(editor.asked(1), "allow")
        assert editor.result(given) == {"stopReason": "end_turn"}
        said = "".join(each for (each,) in answers) + "One is there."
        assert editor.text(session) == said
        workspace = sandbox.workspace(session.partition(".")[0])
        assert (workspace / "one.txt").read_text() == "one\n"
        calls = [each["update"] for each in editor.updates if "toolCallId" in each["update"]]
        assert calls[-1]["status"] == "completed"
        given = editor.gives(session, "Sleep")
        editor.asked(2)
        editor.cancels(session)
        assert editor.result(given) == {"stopReason": "cancelled"}
        editor.gives(session, "Make two.txt")
        editor.asked(3)
        editor.loses_its_server()
        again = Editor(sandbox, *words)
        again.does("session/load", sessionId=session, cwd=str(sandbox.repo), mcpServers=[])
        again.answers(again.asked(1), "allow")
        again.until(lambda: again.text(session) == f"{said}Two is there.")
        assert (workspace / "two.txt").read_text() == "two\n"
        assert again.result(again.gives(session, "Go on")) == {"stopReason": "end_turn"}
        again.leaves()
        stop_all(sandbox)
