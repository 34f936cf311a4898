"""A published client, `claude-agent-sdk`, drives `siding agent` unchanged."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

from .scripts import denied_tools, fixed

sdk = pytest.importorskip("claude_agent_sdk", reason="pip: claude-agent-sdk")
Said = list[Any]


def options(agent: Sandbox, **more: Any) -> Any:
    script = agent.directory / "script.yaml"
    return sdk.ClaudeAgentOptions(
        cli_path=Path(sys.executable).with_name("siding-agent"),
        model=f"scripted:{script}",
        cwd=agent.repo,
        env=dict(agent.env),
        **more,
    )


@pytest.fixture(autouse=True)
def all_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at a message that the client does not know: it passes over such messages."""
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
    said = asyncio.run(asked("fix", options(agent, permission_mode="acceptEdits")))
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
