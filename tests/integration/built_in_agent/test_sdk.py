"""A published client, `claude-agent-sdk`, drives `siding agent` unchanged."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sandbox import Sandbox
from warm import put_program

from .scripts import denied_tools, fixed

CLIENT = "claude_agent_sdk"
pytestmark = pytest.mark.skipif(find_spec(CLIENT) is None, reason="pip: claude-agent-sdk")
Said = list[Any]


class Client:
    """The client's package, loaded when it is first used: it takes a second, and every process
    that runs tests collects these."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(CLIENT), name)


sdk = Client()


def options(agent: Sandbox, program: Path | None = None, **more: Any) -> Any:
    """Return the client's options; the program is a quick one, if no other is said."""
    script = agent.directory / "script.yaml"
    return sdk.ClaudeAgentOptions(
        cli_path=program or put_program(agent.directory / "warm", "siding-agent", "agent"),
        model=f"scripted:{script}",
        cwd=agent.repo,
        env=dict(agent.env),
        **more,
    )


@pytest.fixture(autouse=True)
def all_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at a message that the client does not know: it passes over such messages."""
    import_module(CLIENT)
    parser = sys.modules["claude_agent_sdk._internal.message_parser"]
    parse: Callable[[Any], Any] = parser.parse_message

    def strict(data: Any) -> Any:
        found = parse(data)
        assert found is not None, data
        return found

    for name in ("client", "_internal.client", "_internal.message_parser"):
        module = sys.modules[f"claude_agent_sdk.{name}"]
        if hasattr(module, "parse_message"):
            monkeypatch.setattr(module, "parse_message", strict)


async def asked(prompt: Any, given: Any) -> Said:
    return [each async for each in sdk.query(prompt=prompt, options=given)]


async def answered(client: Any, prompt: str) -> Said:
    await client.query(prompt)
    return [each async for each in client.receive_response()]


def kinds(said: Said) -> list[str]:
    return [type(each).__name__ for each in said]


def test_a_prompt(agent: Sandbox) -> None:
    installed = Path(sys.executable).with_name("siding-agent")
    said = asyncio.run(asked("fix", options(agent, installed, permission_mode="acceptEdits")))
    assert kinds(said) == [
        *("SystemMessage", "AssistantMessage", "UserMessage", "AssistantMessage", "UserMessage"),
        *("AssistantMessage", "ResultMessage"),
    ]
    assert said[-1].result == "Done."
    assert said[-1].num_turns == 3
    assert fixed(agent)


def test_prompts_as_they_come(agent: Sandbox) -> None:
    async def prompts() -> AsyncIterator[dict[str, Any]]:
        for text in ("run git log -1", "search"):
            yield {"type": "user", "message": {"role": "user", "content": text}}

    said = asyncio.run(asked(prompts(), options(agent)))
    ends = [each.is_error for each in said if isinstance(each, sdk.ResultMessage)]
    assert ends in ([False], [False, False])  # the second one may come while the first is answered


def test_a_conversation_with_a_person_who_is_asked(agent: Sandbox) -> None:
    seen: list[str] = []

    async def may(tool: str, given: dict[str, Any], context: Any) -> Any:
        seen.append(tool)
        if tool == "AskUserQuestion":
            answers = {given["questions"][0]["question"]: "red"}
            return sdk.PermissionResultAllow(updated_input={**given, "answers": answers})
        if given.get("command") == "touch a":
            return sdk.PermissionResultAllow(updated_permissions=context.suggestions[-2:-1])
        return sdk.PermissionResultDeny(message="not that")

    async def hold() -> list[Said]:
        given = options(agent, can_use_tool=may, include_partial_messages=True)
        async with sdk.ClaudeSDKClient(given) as client:
            told = [await answered(client, "ask")]
            told.append(await answered(client, "run touch a"))
            told.append(await answered(client, "run touch b"))
            told.append(await answered(client, "run rm a"))
            await client.set_permission_mode("plan")
            await client.set_model(given.model)
            told.append(await answered(client, "run touch c"))
            assert await client.get_mcp_status() == {"mcpServers": []}
        return told

    question, first, second, third, planned = asyncio.run(hold())
    assert question[-1].result == "red it is"
    assert "StreamEvent" in kinds(question)
    assert (denied_tools(first[-1]), denied_tools(second[-1])) == ([], [])
    assert third[-1].result == "I was told: not that"
    assert seen == ["AskUserQuestion", "Bash", "Bash"]  # what was remembered is not asked again
    assert planned[0].data["permissionMode"] == "plan"
    assert denied_tools(planned[-1]) == ["Bash"]
    assert (agent.workspace() / "b").exists()
    assert (agent.workspace() / "a").exists()


def test_hooks_and_an_interrupt(agent: Sandbox) -> None:
    seen: list[str] = []

    async def before(given: Any, _call: Any, _context: Any) -> Any:
        seen.append(given["tool_name"])
        decision = "deny" if "rm" in given["tool_input"].get("command", "") else "allow"
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": "by rule",
            }
        }

    async def hold() -> tuple[Said, Said, Said]:
        matcher = sdk.HookMatcher(matcher="Bash", hooks=[before])
        given = options(agent, hooks={"PreToolUse": [matcher]})
        async with sdk.ClaudeSDKClient(given) as client:
            allowed = await answered(client, "run touch a")
            denied = await answered(client, "run rm a")
            await client.query("run sleep 60; touch b")
            while len(seen) < 3:
                await asyncio.sleep(0.05)
            await client.interrupt()
            return allowed, denied, [each async for each in client.receive_response()]

    allowed, denied, interrupted = asyncio.run(hold())
    assert denied_tools(allowed[-1]) == []
    assert denied_tools(denied[-1]) == ["Bash"]
    assert interrupted[-1].subtype == "error_during_execution"
    assert (agent.workspace() / "a").exists()
    assert not (agent.workspace() / "b").exists()


def echoing(executed: list[str], *names: str) -> Any:
    """Return a server of the client's own, with these tools."""

    def made(name: str) -> Any:
        async def run(given: dict[str, Any]) -> dict[str, Any]:
            executed.append(name)
            if given["text"] == "fail":
                return {"content": [{"type": "text", "text": "no"}], "is_error": True}
            return {"content": [{"type": "text", "text": f"{name}: {given['text']}"}]}

        return sdk.tool(name, f"Says it {name}", {"text": str})(run)

    return sdk.create_sdk_mcp_server("echo", tools=[made(name) for name in names])


def test_tools_of_the_client(agent: Sandbox) -> None:
    executed: list[str] = []
    given = options(
        agent,
        mcp_servers={"own": echoing(executed, "loud", "low", "never")},
        allowed_tools=["mcp__own__loud"],
        disallowed_tools=["mcp__own__never"],
    )

    async def hold() -> tuple[list[Said], Any]:
        async with sdk.ClaudeSDKClient(given) as client:
            words = ("loud hi", "loud fail", "low hi", "never hi")
            told = [await answered(client, f"echo {each}") for each in words]
            return told, (await client.get_mcp_status(), await client.get_context_usage())

    (loud, failed, low, never), (status, context) = asyncio.run(hold())
    assert loud[0].data["mcp_servers"] == [{"name": "own", "status": "connected"}]
    assert {"mcp__own__loud", "mcp__own__low"} <= {*loud[0].data["tools"]}
    assert "mcp__own__never" not in loud[0].data["tools"]
    assert loud[-1].result == "I heard loud: hi"
    assert failed[-1].result == "I heard no"
    assert failed[2].content[0].is_error
    assert denied_tools(low[-1]) == ["mcp__own__low"]
    assert "There is no tool" in never[-1].result
    assert executed == ["loud", "loud"]
    assert [each["name"] for each in context["mcpTools"]] == ["mcp__own__loud", "mcp__own__low"]
    tokens = {each["name"]: each["tokens"] for each in context["categories"]}
    assert tokens.pop("free space") == context["rawMaxTokens"] - context["totalTokens"]
    assert sum(tokens.values()) == context["totalTokens"]
    assert min(tokens.values()) > 0
    assert status["mcpServers"] == [{"name": "own", "status": "connected"}]


SERVER = r"""
import json, sys
print("a line that is no message", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    params = asked["params"]
    tools = [{"name": "loud", "inputSchema": {"type": "object", "required": ["text"]}}]
    result = {
        "initialize": lambda: {"protocolVersion": params["protocolVersion"], "capabilities": {}},
        "tools/list": lambda: {"tools": tools},
        "tools/call": lambda: {"content": [{"type": "text", "text": params["arguments"]["text"]}]},
    }[asked["method"]]()
    print(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping"}), flush=True)
    if asked["method"] == "tools/call" and params["arguments"]["text"] == "die":
        sys.exit(3)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_servers_that_are_processes(agent: Sandbox) -> None:
    place = agent.directory / "server.py"
    place.write_text(SERVER)
    servers = {
        "own": {"command": sys.executable, "args": [str(place)]},
        "gone": {"command": str(agent.directory / "nothing")},
        "far": {"type": "http", "url": "http://127.0.0.1:9"},
    }
    heard: list[str] = []
    given = options(agent, mcp_servers=servers, allowed_tools=["mcp__own"], stderr=heard.append)
    said = asyncio.run(asked("echo loud hi", given))
    states = [each["status"] for each in said[0].data["mcp_servers"]]
    assert states == ["connected", "failed", "failed"]
    assert said[-1].result == "I heard hi"
    assert "the server 'far' is not there" in " ".join(heard)
    dead = asyncio.run(asked("echo loud die", given))
    assert "ended before it answered" in dead[-1].result


def test_what_a_prompt_came_from_is_said_of_its_end(agent: Sandbox) -> None:
    async def prompt() -> AsyncIterator[dict[str, Any]]:
        message = {"role": "user", "content": "search"}
        yield {"type": "user", "message": message, "origin": {"kind": "human"}}

    async def hold() -> list[Any]:
        async with sdk.ClaudeSDKClient(options(agent)) as client:
            await client.query(prompt())
            stamped = [each async for each in client.receive_response()]
            return [stamped[-1].origin, (await answered(client, "search"))[-1].origin]

    assert asyncio.run(hold()) == [{"kind": "human"}, None]


def test_nothing_is_on_standard_error_when_all_is_well(agent: Sandbox) -> None:
    heard: list[str] = []
    asyncio.run(asked("search", options(agent, stderr=heard.append)))
    assert heard == []


def test_a_turn_is_left_behind_only_if_it_is_the_one_that_was_named(agent: Sandbox) -> None:
    first = asyncio.run(asked("search", options(agent)))
    session = first[-1].session_id
    asyncio.run(asked("ask", options(agent, resume=session)))
    (path,) = Path(agent.env["SIDING_HOME"]).glob(f"projects/*/sessions/{session}.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    dropped = next(it["uuid"] for it in lines if it.get("message", {}).get("content") == "ask")
    before = path.read_bytes()
    cut = {"resume": session, "fork_session": True, "resume_session_at": first[-2].uuid}
    with pytest.raises(sdk.ProcessError, match="Resume rejected by --resume-drops-turn"):
        asyncio.run(asked("search", options(agent, **cut, resume_drops_turn=str(UUID(int=1)))))
    assert [each.name for each in path.parent.glob("*.jsonl")] == [path.name]
    forked = asyncio.run(asked("search", options(agent, **cut, resume_drops_turn=dropped)))
    shown = agent.siding("session", "show", forked[-1].session_id).stdout.decode()
    assert "Which one?" not in shown
    assert path.read_bytes() == before


def test_going_on_copying_and_an_object(agent: Sandbox) -> None:
    first = asyncio.run(asked("search", options(agent)))[-1]
    resumed = asyncio.run(asked("search", options(agent, resume=first.session_id)))[-1]
    assert resumed.session_id == first.session_id
    copy = options(agent, resume=first.session_id, fork_session=True)
    assert asyncio.run(asked("search", copy))[-1].session_id != first.session_id
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    given = options(agent, output_format={"type": "json_schema", "schema": schema})
    assert asyncio.run(asked("object", given))[-1].structured_output == {"n": 3}


def test_limits_and_mistakes(agent: Sandbox) -> None:
    with pytest.raises(sdk.ResultError, match="error_max_turns"):
        asyncio.run(asked("fix", options(agent, max_turns=1)))
    with pytest.raises(sdk.ProcessError):
        asyncio.run(asked("fix", options(agent, resume="11111111-2222-3333-4444-555555555555")))
    with pytest.raises(sdk.ProcessError):
        asyncio.run(asked("fix", options(agent, permission_mode="bypassPermissions")))
    with pytest.raises(sdk.ResultError, match="no answer for"):
        asyncio.run(asked("what nobody knows", options(agent)))


def test_what_older_and_newer_clients_say_is_taken(agent: Sandbox) -> None:
    given = options(
        agent,
        thinking={"type": "enabled", "budget_tokens": 2000},
        system_prompt={"type": "preset", "preset": "claude_code", "append": "Be short."},
        setting_sources=["user", "project"],
        allowed_tools=["Read", "Bash(git log:*)"],
        disallowed_tools=["WebSearch", "Bash(rm:*)"],
        add_dirs=[agent.directory],
        max_budget_usd=1.0,
        effort="low",
    )
    assert asyncio.run(asked("run git log -1", given))[-1].result == "Done."
