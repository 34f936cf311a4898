"""What a real agent has printed, recorded with what was done meanwhile, and played to a talker.

A line of a recording is one of the agent's, or what was done then: ``{"act": "prompt", …}``.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from siding.agents.talking.port import Answer, Event, Picture, Talker

Cut = Callable[[bytes], Iterable[bytes]]
Lines = list[dict[str, Any]]


class Scene(NamedTuple):
    """What followed an act: what the talker sent from then on, and what happened."""

    act: Mapping[str, Any]
    sent: list[dict[str, Any]]
    events: list[Event]

    def of(self, kind: Any) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def recorded(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def whole(data: bytes) -> Iterator[bytes]:
    yield data


def played(talker: Talker, lines: Lines, cut: Cut = whole) -> list[Scene]:
    """Play a recording; the first scene is how the agent opens."""
    scenes = [Scene({}, [], [])]
    waiting = b""
    for line in [*lines, {"act": ""}]:
        if "act" not in line:
            waiting += json.dumps(line).encode() + b"\n"
            continue
        for data in cut(waiting):
            scenes[-1].events.extend(talker.receive(data))
            scenes[-1].sent.extend(sent_by(talker))
        waiting = b""
        if line["act"]:
            scenes.append(Scene(line, [], []))
            act(talker, line)
            scenes[-1].sent.extend(sent_by(talker))
    return scenes


def sent_by(talker: Talker) -> list[dict[str, Any]]:
    return [json.loads(line) for line in talker.to_send().splitlines()]


def act(talker: Talker, said: Mapping[str, Any]) -> None:
    match said["act"]:
        case "prompt" | "steer":
            parts = [
                Picture("image/png", b"P") if each == "PICTURE" else each for each in said["parts"]
            ]
            getattr(talker, said["act"])(said["id"], parts)
        case "answer":
            talker.answer(said["ask"], Answer(**said["answer"]))
        case "set":
            talker.set(**{name: value for name, value in said.items() if name != "act"})
        case "stop":
            talker.stop()
        case "compact":
            talker.compact()


def scene(scenes: list[Scene], **said: Any) -> Scene:
    """Return the first scene whose act has these fields."""
    return next(each for each in scenes if said.items() <= each.act.items())
