"""A client of ACP against conversations that the test plays. No process, no file."""

import base64
import itertools
import json
from typing import Any

import pytest
from acp import schema
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.talking.lines import MOST
from siding.chat.face import McpServer, Reply
from siding.faces.acp.connection import Connection
from siding.ground.errors import SidingError
from unit.faces.acp.desk import CAN, ROOT, WORKSPACE, Client, PlayedDesk, text


def test_it_says_what_it_can_and_speaks_version_one_with_a_later_client() -> None:
    client = Client()
    said = client.result(client.asks("initialize", protocolVersion=7))
    found = schema.InitializeResponse.model_validate(said)
    assert found.protocol_version == 1
    assert said["agentCapabilities"]["loadSession"] is True
    assert said["authMethods"] == []
    assert client.error(client.asks("authenticate", methodId="x"))["code"] == -32602


def test_nothing_is_done_before_initialize() -> None:
    desk = PlayedDesk()
    connection = Connection(desk, CAN)
    connection.receive(b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/r"}}\n')
    assert json.loads(connection.to_send())["error"]["code"] == -32600
    assert not desk.done


def test_a_new_session_is_answered_when_its_agent_is_ready() -> None:
    client = Client()
    servers = [{"type": "stdio", "name": "files", "command": "x", "args": [], "env": []}]
    number = client.asks("session/new", cwd=ROOT, mcpServers=servers)
    client.line("t.c1", "hosted", run="r1")
    assert client.answer_to(number) is None
    assert not client.updates
    commands = [{"name": "/compact", "about": "Shorter"}]
    client.line("t.c1", "opened", session="s", modes=["a", "b"], mode="a", commands=commands)
    said = client.result(number)
    assert schema.NewSessionResponse.model_validate(said).session_id == "t.c1"
    assert said["modes"]["currentModeId"] == "a"
    assert said["_meta"]["siding"]["workspace"] == WORKSPACE
    assert client.updates[0]["availableCommands"][0]["name"] == "compact"
    assert client.desk.did("begin") == [("begin", ROOT, (McpServer("files", "x"),))]


def test_servers_of_tools_go_to_the_agent_and_bad_ones_are_refused() -> None:
    client = Client()
    said = client.result(client.asks("initialize", protocolVersion=1))
    assert said["agentCapabilities"]["mcpCapabilities"] == {"http": True, "sse": False}
    bad = client.asks("session/new", cwd=ROOT, mcpServers=[{"name": "none"}])
    assert "`command` or a `url`" in client.error(bad)["message"]
    headers = [{"name": "Key", "value": "k"}]
    web = {"type": "http", "name": "web", "url": "https://x/", "headers": headers}
    for method in ("session/load", "session/resume"):
        number = client.asks(method, cwd=ROOT, sessionId="t.c1", mcpServers=[web])
        client.caught_up("t.c1")
        assert client.result(number)
        assert "when it is begun again" in client.updates[-1]["content"]["text"]
    client.asks("session/load", cwd=ROOT, sessionId="t.c1", mcpServers=[])
    given = McpServer("web", kind="http", url="https://x/", headers={"Key": "k"})
    assert client.desk.did("servers") == [("servers", "t.c1", (given,))] * 2


@pytest.mark.parametrize(
    ("event", "fields", "code"),
    [
        ("ended", {"reason": "no such model"}, -32603),
        ("troubled", {"trouble": "login", "message": "log in"}, -32000),
    ],
)
def test_a_session_whose_agent_cannot_begin_is_refused_with_the_reason(
    event: str, fields: dict[str, str], code: int
) -> None:
    client = Client()
    number = client.asks("session/new", cwd=ROOT, mcpServers=[])
    client.line("t.c1", event, **fields)
    error = client.error(number)
    assert error["code"] == code
    assert list(fields.values())[-1] in error["message"]
    assert client.desk.did("end")


def test_a_relative_directory_and_an_unknown_session_are_refused() -> None:
    client = Client()
    assert client.error(client.asks("session/new", cwd="repo"))["code"] == -32602
    assert client.error(client.asks("session/load", cwd=ROOT, sessionId="x"))["code"] == -32002
    assert client.error(client.asks("session/prompt", sessionId="x", prompt=[]))["code"] == -32002
    assert client.error(client.asks("session/fork", sessionId="x"))["code"] == -32601


@pytest.mark.parametrize(
    ("end", "stop"),
    [
        ({"how": "done"}, "end_turn"),
        ({"how": "stopped"}, "cancelled"),
        ({"how": "failed", "cause": "refusal"}, "refusal"),
        ({"how": "failed", "cause": "max-tokens"}, "max_tokens"),
        ({"how": "failed", "cause": "max-turn-requests"}, "max_turn_requests"),
    ],
)
def test_a_prompt_is_answered_when_its_own_turn_has_ended(end: dict[str, str], stop: str) -> None:
    client = Client()
    session = client.begun()
    number, prompt = client.prompts(session)
    client.runs(session, "another's", "Before it")
    client.turn_ends(session, how="done")
    assert client.answer_to(number) is None
    assert [
        each["content"]["text"] for each in client.updates if "user" in each["sessionUpdate"]
    ] == ["Before it"]
    client.runs(session, prompt)
    client.turn_ends(session, **end)
    assert client.result(number) == {"stopReason": stop}


def test_a_turn_that_failed_is_an_error_with_its_reason() -> None:
    client = Client()
    session = client.begun()
    number, prompt = client.prompts(session)
    client.runs(session, prompt)
    client.turn_ends(session, how="failed", reason="the server is busy")
    assert "the server is busy" in client.error(number)["message"]


def test_a_prompt_is_answered_once_its_turn_can_be_undone() -> None:
    client = Client()
    session = client.begun()
    for is_recorded in (True, False):
        number, prompt = client.prompts(session)
        client.runs(session, prompt)
        client.line(session, "turn-ended", how="done")
        client.ticks(session, 1.0)
        assert client.answer_to(number) is None
        if is_recorded:
            client.line(session, "recorded", step=1)
        else:
            client.ticks(session, 100.0)
        assert client.result(number) == {"stopReason": "end_turn"}


def test_cancel_stops_the_turn_and_every_prompt_is_answered_so() -> None:
    client = Client()
    session = client.begun()
    first, one = client.prompts(session)
    second, two = client.prompts(session)
    client.runs(session, one)
    client.tells("session/cancel", sessionId=session)
    assert client.desk.did("stop") == [("stop", session)]
    client.line(session, "queued", prompt=two, text="Do it")
    client.line(session, "dropped", prompt=two)
    client.turn_ends(session, how="done")  # it had ended before it heard of the stop
    assert client.result(first) == client.result(second) == {"stopReason": "cancelled"}


def test_a_request_that_is_cancelled_by_its_id_stops_its_own_prompt_alone() -> None:
    client = Client()
    session = client.begun()
    first, one = client.prompts(session)
    second, two = client.prompts(session)
    client.runs(session, one)
    client.tells("$/cancel_request", requestId=second)
    assert client.desk.did("drop") == [("drop", session, two)]
    client.tells("$/cancel_request", requestId=first)
    assert client.desk.did("stop") == [("stop", session)]


def test_a_permission_is_answered_by_the_client() -> None:
    client = Client()
    session = client.begun()
    _number, prompt = client.prompts(session)
    client.runs(session, prompt)
    client.line(session, "tool-started", call="c", name="Bash", title="rm x", kind="execute")
    client.is_asked(session, call="c", always=["conversation", "task"])
    (request,) = client.requests
    found = schema.RequestPermissionRequest.model_validate(request["params"])
    always = ["allow_always"] * 2
    assert [each.kind for each in found.options] == ["allow_once", *always, "reject_once"]
    assert found.options[2].name == "Allow always, for this task: run `rm x`"
    assert found.tool_call.tool_call_id == "c"
    chosen = {"outcome": "selected", "optionId": found.options[2].option_id}
    client.sends({"id": request["id"], "result": {"outcome": chosen}})
    assert client.desk.did("answer")[0][2:] == ("d-a1", Reply(always="task"))
    client.line(session, "answered", ask="a1", allows=True)
    assert not client.taken_back


def test_a_permission_that_is_answered_elsewhere_is_taken_back() -> None:
    client = Client()
    session = client.begun()
    client.runs(session, "another's")
    client.is_asked(session)
    (request,) = client.requests
    client.line(session, "answered", ask="a1", allows=True)
    assert client.taken_back == [request["id"]]
    chosen = {"outcome": "selected", "optionId": "allow"}
    client.sends({"id": request["id"], "result": {"outcome": chosen}})  # too late
    assert not client.desk.did("answer")
    assert not any("error" in each for each in client.said)


def test_an_ask_that_is_passed_over_stays_open_and_the_client_is_told_where() -> None:
    client = Client()
    session = client.begun()
    client.runs(session, "another's")
    client.is_asked(session)
    client.sends({"id": client.requests[0]["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    assert not client.desk.did("answer")
    assert "siding decide answer d-a1" in client.updates[-1]["content"]["text"]


def test_a_question_with_options_is_put_and_others_are_said() -> None:
    client = Client()
    session = client.begun()
    client.runs(session, "another's")
    choice = {"question": "Which?", "options": [["Red", "a colour"], ["Blue", ""]]}
    client.is_asked(session, choices=[choice])
    names = [each["name"] for each in client.requests[0]["params"]["options"]]
    assert names == ["Red: a colour", "Blue"]
    chosen = {"outcome": "selected", "optionId": "choice-1"}
    client.sends({"id": client.requests[0]["id"], "result": {"outcome": chosen}})
    assert client.desk.did("answer")[0][3] == Reply(choices=("1=Blue",))
    client.is_asked(session, "a2", choices=[{"question": "Your name?"}])
    assert len(client.requests) == 1
    assert "d-a2" in client.updates[-1]["content"]["text"]


def test_a_client_with_forms_gets_every_question_as_one() -> None:
    client = Client(capabilities={"elicitation": {"form": {}}})
    session = client.begun()
    client.runs(session, "another's")
    choices: list[dict[str, Any]] = [
        {"question": "Which?", "options": [["Red", "a colour"], ["Blue", ""]]},
        {"question": "Which ones?", "options": [["A", ""], ["B", ""]], "several": True},
        {"question": "Your name?"},
    ]
    filled = {"question1": "Blue", "question2": ["A", "B"], "question3": "Ada"}
    accepted = {"action": "accept", "content": filled}
    cases = [
        (accepted, Reply(choices=("1=Blue", "2=A", "2=B", "3=Ada"))),
        ({"action": "decline"}, Reply(allows=False)),
    ]
    for number, (result, reply) in enumerate(cases):
        client.is_asked(session, f"a{number}", choices=choices)
        form = client.said[-1]
        assert form["method"] == "elicitation/create"
        schema.CreateFormSessionElicitationRequest.model_validate(form["params"])
        client.sends({"id": form["id"], "result": result})
        assert client.desk.did("answer")[-1][3] == reply
    client.is_asked(session, "a2", choices=choices)
    client.sends({"id": client.said[-1]["id"], "result": {"action": "cancel"}})
    assert len(client.desk.did("answer")) == 2
    assert "siding decide answer" in client.updates[-1]["content"]["text"]


def test_a_loaded_session_is_told_its_story_and_then_goes_on() -> None:
    client = Client()
    number = client.asks("session/load", cwd=ROOT, sessionId="t.c1", mcpServers=[])
    client.line("t.c1", "opened", session="s", modes=["a"], mode="a")
    client.runs("t.c1", "p9", "Hello")
    client.line("t.c1", "text", text="Hi.")
    client.is_asked("t.c1")
    assert client.answer_to(number) is None
    assert not client.requests
    client.caught_up("t.c1")
    assert client.result(number)["modes"]["currentModeId"] == "a"
    assert [
        each["content"]["text"] for each in client.updates if "chunk" in each["sessionUpdate"]
    ] == [
        "Hello",
        "Hi.",
    ]
    assert len(client.requests) == 1
    client.turn_ends("t.c1", how="done")
    assert client.taken_back == [client.requests[0]["id"]]


def test_a_resumed_session_is_told_nothing_of_before() -> None:
    client = Client()
    number = client.asks("session/resume", cwd=ROOT, sessionId="t.c1")
    client.line("t.c1", "opened", session="s", commands=[{"name": "/compact"}])
    client.runs("t.c1", "p9", "Hello")
    client.line("t.c1", "text", text="Hi.")
    client.caught_up("t.c1")
    client.result(number)
    assert client.kinds() == ["available_commands_update"]
    client.line("t.c1", "text", text="More.")
    assert client.updates[-1]["content"]["text"] == "More."


def test_a_prompt_outlives_its_session_being_loaded_again() -> None:
    client = Client()
    session = client.begun()
    number, prompt = client.prompts(session)
    client.runs(session, prompt)
    client.is_asked(session)
    client.asks("session/load", cwd=ROOT, sessionId=session, mcpServers=[])
    assert client.taken_back == [client.requests[0]["id"]]
    client.line(session, "opened", session="s")
    client.runs(session, prompt)
    client.caught_up(session)
    client.turn_ends(session, how="done")
    assert client.result(number) == {"stopReason": "end_turn"}


def test_a_host_that_is_gone_is_started_again_and_not_for_ever() -> None:
    client = Client()
    session = client.begun()
    number, prompt = client.prompts(session)
    client.desk.held.clear()
    client.ticks(session)
    assert client.desk.did("hold")
    for _ in range(5):
        client.desk.held.clear()
        client.ticks(session)
    assert len(client.desk.did("hold")) == 3
    assert "ends each time" in client.error(number)["message"]
    assert client.desk.did("drop") == [("drop", session, prompt)]


def test_a_host_that_cannot_be_started_is_an_error_of_the_prompt() -> None:
    client = Client()
    session = client.begun()
    number, _prompt = client.prompts(session)
    client.desk.held.clear()
    client.desk.cannot_hold = SidingError("its workspace is gone")
    client.ticks(session)
    assert "its workspace is gone" in client.error(number)["message"]


def test_a_mode_is_answered_when_the_agent_has_it() -> None:
    client = Client()
    session = client.begun()
    assert client.error(client.asks("session/set_mode", sessionId=session, modeId="x"))
    number = client.asks("session/set_mode", sessionId=session, modeId="plan")
    client.line(session, "settings-asked", mode="plan")
    assert client.answer_to(number) is None
    client.line(session, "applied", mode="plan")
    assert client.result(number) == {}
    told = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
    assert told in client.updates[-2:]
    number = client.asks("session/set_mode", sessionId=session, modeId="default")
    client.line(session, "settings-asked", mode="default")
    client.line(session, "troubled", trouble="other", message="not now")
    assert client.error(number)["message"] == "not now"


def test_the_list_has_pages() -> None:
    client = Client()
    first = client.result(client.asks("session/list", cwd=ROOT))
    second = client.result(client.asks("session/list", cwd=ROOT, cursor=first["nextCursor"]))
    assert [len(each["sessions"]) for each in (first, second)] == [100, 50]
    assert "nextCursor" not in second
    assert client.error(client.asks("session/list", cursor="x"))["code"] == -32602


def test_a_closed_session_ends_its_agent_and_answers_its_prompts() -> None:
    client = Client()
    session = client.begun()
    number, _prompt = client.prompts(session)
    client.result(client.asks("session/close", sessionId=session))
    assert client.result(number) == {"stopReason": "cancelled"}
    assert [each[0] for each in client.desk.done[-3:]] == ["stop", "end", "leave"]


def test_two_sessions_on_one_connection_do_not_mix() -> None:
    client = Client()
    one, other = client.begun(), client.begun()
    first, a = client.prompts(one)
    second, b = client.prompts(other)
    client.runs(other, b)
    client.turn_ends(other, how="done")
    assert client.answer_to(first) is None
    assert client.result(second) == {"stopReason": "end_turn"}
    client.runs(one, a)
    client.turn_ends(one, how="done")
    assert client.result(first) == {"stopReason": "end_turn"}


def test_lines_that_are_no_message_are_answered_and_the_next_one_is_read() -> None:
    client = Client()
    client.gives(b"{nonsense\n[]\n17\n\xff\xfe\n" + b'{"jsonrpc":"2.0"}\n')
    codes = [each["error"]["code"] for each in client.said[1:]]
    assert codes == [-32700, -32600, -32600, -32700, -32600]
    assert all(each["id"] is None for each in client.said[1:])
    client.gives(b'{"x":"' + b"y" * (MOST + 1) + b'"}\n')
    assert client.said[-1]["error"]["code"] == -32700
    client.result(client.asks("session/list", cwd=ROOT))


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def _script() -> bytes:
    picture = {"type": "image", "mimeType": "image/png", "data": PNG}
    link = {"type": "resource_link", "uri": f"file://{ROOT}/a%20b.py", "name": "a b.py"}
    messages: list[dict[str, Any]] = [
        {"id": "x", "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": {"cwd": ROOT, "mcpServers": []}},
        {"id": 3, "method": "session/list", "params": {"cwd": ROOT}},
        {
            "id": 4,
            "method": "session/prompt",
            "params": {"sessionId": "t.c1", "prompt": [text("é ☂"), link, picture]},
        },
        {"method": "session/cancel", "params": {"sessionId": "t.c1"}},
        {"id": 5, "method": "session/close", "params": {"sessionId": "t.c1"}},
    ]
    lines = [json.dumps(each, ensure_ascii=False).encode() for each in messages]
    return b"\n".join([lines[0], b"", b"{broken", *lines[1:], b""])


SCRIPT = _script()


@given(st.lists(st.integers(0, len(SCRIPT)), max_size=12))
def test_where_the_bytes_are_cut_makes_no_difference(cuts: list[int]) -> None:
    whole, pieces = PlayedDesk(), PlayedDesk()
    at_once, cut = Connection(whole, CAN), Connection(pieces, CAN)
    at_once.receive(SCRIPT)
    places = [0, *sorted(cuts), len(SCRIPT)]
    for start, end in itertools.pairwise(places):
        cut.receive(SCRIPT[start:end])
    assert cut.to_send() == at_once.to_send()
    assert pieces.done == whole.done
    assert len(whole.did("give")) == 1


def test_models_and_efforts_are_chosen_and_what_holds_is_told() -> None:
    client = Client()
    session = client.begun()
    models = [
        {"word": "big", "name": "Big", "reads_as": "big-4", "efforts": ["low", "high"]},
        {"word": "best", "reads_as": "big-4"},
    ]
    client.line(session, "offered", models=models)
    client.line(session, "applied", model="big-4", mode="default", effort="low")
    told = schema.ConfigOptionUpdate.model_validate(client.updates[-1])
    assert [each.id for each in told.config_options] == ["mode", "model", "effort"]
    number = client.asks(
        "session/set_config_option", sessionId=session, configId="model", value="best"
    )
    assert client.answer_to(number) is None
    assert client.desk.did("model") == [("model", session, "best")]
    client.line(session, "settings-asked", model="best")
    client.line(session, "applied", model="big-4", mode="default", effort="")
    said = client.result(number)
    schema.SetSessionConfigOptionResponse.model_validate(said)
    now = {each["id"]: each["currentValue"] for each in said["configOptions"]}
    assert now == {"mode": "default", "model": "best"}  # which has no efforts
    for kind, value in (("model", "none"), ("effort", "endless"), ("colour", "red")):
        number = client.asks(
            "session/set_config_option", sessionId=session, configId=kind, value=value
        )
        assert client.error(number)["code"] == -32602
    client.line(session, "switched", agent="codex")
    assert client.updates[-1] == {"sessionUpdate": "config_option_update", "configOptions": []}
