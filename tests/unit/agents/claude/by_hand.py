"""A talker of Claude Code and what it hears, line by line."""

import json
from typing import Any

from siding.agents.claude.talker import ClaudeTalker
from siding.agents.talking.port import (
    Event,
    PromptTaken,
    TurnStarted,
)

Message = dict[str, Any]
RESULT: Message = {"type": "result", "subtype": "success", "is_error": False}


def heard(talker: ClaudeTalker, told: Message) -> list[Event]:
    return talker.receive(json.dumps(told).encode() + b"\n")


def told_by(talker: ClaudeTalker) -> list[Message]:
    return [json.loads(line) for line in talker.to_send().splitlines()]


def begun(talker: ClaudeTalker, prompt: str = "p") -> None:
    """Have a turn run."""
    talker.prompt(prompt, ["Go"])
    talker.to_send()
    lifecycle = {"type": "command_lifecycle", "command_uuid": prompt, "state": "started"}
    assert heard(talker, lifecycle) == [TurnStarted(prompt), PromptTaken(prompt)]


def tool_use(call: str) -> Message:
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "true"}}
    return {"type": "assistant", "message": {"id": f"of {call}", "content": [block]}}


def replay_of(prompt: str) -> Message:
    return {"type": "user", "uuid": prompt, "message": {"content": "Go"}, "isReplay": True}


def answer_to(request: Message, response: Message) -> Message:
    answer = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": answer}
