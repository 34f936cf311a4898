"""An answer as it comes, as the events of Anthropic's streaming API.

The events are made up from what the loop tells, so they are the same for all models: an answer
begins, each block begins, grows and ends, the answer ends. Blocks are numbered from 0 without gaps.
"""

import json
from typing import Any

from siding.assistant.front_end import (
    Answered,
    AnswerStarted,
    Block,
    InputDelta,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from siding.faces.cli.assistant.usage_words import usage_of

_Event = dict[str, Any]
Delta = TextDelta | ThinkingDelta | InputDelta


class Partial:
    """The blocks of one answer that are under way."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # the model's place of a block -> our number
        self._begun = 0

    def started(self, event: AnswerStarted) -> list[_Event]:
        """Return the beginning of an answer."""
        self._open.clear()
        self._begun = 0
        message = message_of(event.answer, event.model, [], event.usage)
        return [{"type": "message_start", "message": message}]

    def grown(self, delta: Delta) -> list[_Event]:
        """Return what a delta adds, after the beginning of its block if it is the first."""
        begins = [] if delta.at in self._open else [self._begin(delta.at, _empty(delta))]
        return [*begins, _delta(self._open[delta.at], _growth(delta))]

    def ended(self, block: Block) -> list[_Event]:
        """Return the end of a block. One of which nothing was told comes whole."""
        whole: list[_Event] = []
        if not self._open:
            whole = self._whole(block)
        at = min(self._open)
        return [*whole, {"type": "content_block_stop", "index": self._open.pop(at)}]

    def answered(self, event: Answered) -> list[_Event]:
        """Return the end of an answer."""
        delta = {"stop_reason": event.reason.value, "stop_sequence": None}
        return [
            {"type": "message_delta", "delta": delta, "usage": usage_of(event.usage)},
            {"type": "message_stop"},
        ]

    def _begin(self, at: int, block: Block) -> _Event:
        self._open[at] = self._begun
        self._begun += 1
        return {"type": "content_block_start", "index": self._open[at], "content_block": block}

    def _whole(self, block: Block) -> list[_Event]:
        at = self._begun
        match block.get("type"):
            case "text":
                delta: Delta = TextDelta(at, block["text"])
            case "thinking":
                delta = ThinkingDelta(at, block["thinking"])
            case "tool_use":
                delta = InputDelta(at, block["id"], block["name"], json.dumps(block["input"]))
            case _:
                return [self._begin(at, block)]
        return self.grown(delta)


def message_of(answer: str, model: str, content: list[Block], usage: Usage) -> dict[str, Any]:
    """Return a message of the model, as its API has it."""
    return {
        "id": answer,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_of(usage),
    }


def _empty(delta: Delta) -> Block:
    match delta:
        case TextDelta():
            return {"type": "text", "text": ""}
        case ThinkingDelta():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case InputDelta():
            return {"type": "tool_use", "id": delta.id, "name": delta.name, "input": {}}


def _growth(delta: Delta) -> dict[str, Any]:
    match delta:
        case TextDelta():
            return {"type": "text_delta", "text": delta.text}
        case ThinkingDelta():
            return {"type": "thinking_delta", "thinking": delta.text}
        case InputDelta():
            return {"type": "input_json_delta", "partial_json": delta.json}


def _delta(index: int, growth: dict[str, Any]) -> _Event:
    return {"type": "content_block_delta", "index": index, "delta": growth}
