"""The lines that an agent written for Siding prints: one JSON object each, with an `event`.

    {"event": "session", "id": "c1", "model": "m"}     the conversation, as soon as it is known
    {"event": "says", "text": "Looking at a.py"}       a message of the model; the last one counts
    {"event": "piece", "text": "Look"}                 a part of a message, as it comes
    {"event": "tool", "name": "edit", "about": "a.py"}  what follows is a new message
    {"event": "used", "tokens": 20, "input_tokens": 110, "dollars": 0.01}    sums so far
    {"event": "denied", "name": "bash"}                what it was not allowed to do
    {"event": "left_out", "name": "model"}             what it was told and cannot do
    {"event": "done", "text": "…", "output": {…}}      both may be left out
    {"event": "failed", "message": "…", "fault": "server"}    one of `port.Fault`

Unknown events, fields and lines that are no JSON are passed over.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.headless.faults import fault_of
from siding.agents.headless.lines import JsonLines, last_line, shown
from siding.agents.headless.port import Fault
from siding.ground.storage.fields import text, whole

_FAULTS = {fault.value: fault for fault in Fault}


class EventLines(JsonLines):
    """Reads these lines."""

    def __init__(self, model: str = "") -> None:
        super().__init__()
        self.seen = self.seen._replace(model=model)
        self._pieces: list[str] = []

    def on_event(self, event: Mapping[str, Any]) -> None:
        seen = self.seen
        match event.get("event"):
            case "session":
                model = text(event.get("model")) or seen.model
                seen = seen._replace(session=text(event.get("id")), model=model)
            case "piece":
                self._pieces.append(text(event.get("text")))
                seen = seen._replace(says=last_line("".join(self._pieces[-20:])) or seen.says)
            case "says":
                seen = seen._replace(
                    text=text(event.get("text")), says=shown(text(event.get("text")))
                )
            case "tool":
                self._pieces = []
                words = f"{text(event.get('name'))} {text(event.get('about'))}"
                seen = seen._replace(tools=seen.tools + 1, says=shown(words))
            case "used":
                dollars = event.get("dollars")
                seen = seen._replace(
                    tokens=whole(event.get("tokens")),
                    input_tokens=whole(event.get("input_tokens")),
                    dollars=float(dollars) if isinstance(dollars, int | float) else seen.dollars,
                )
            case "denied":
                seen = seen._replace(denied=(*seen.denied, text(event.get("name"))))
            case "left_out":
                seen = seen._replace(left_out=(*seen.left_out, text(event.get("name"))))
            case "done":
                words = text(event.get("text")) or "".join(self._pieces) or seen.text
                seen = seen._replace(
                    text=words,
                    result=event.get("output"),
                    says=last_line(words) or seen.says,
                    ended=True,
                )
            case "failed":
                error = text(event.get("message")) or "it gives no reason"
                fault = _FAULTS.get(text(event.get("fault"))) or fault_of(error)
                seen = seen._replace(ended=True, fault=fault, error=error)
        self.seen = seen
