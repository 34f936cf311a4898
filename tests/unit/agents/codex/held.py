"""Codex' talker, and what an app-server tells it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from siding.agents.codex.talking import TALKING
from siding.agents.talking.port import (
    Event,
    Hold,
    Talker,
)
from unit.agents.codex.scenes import Lines, Scene, played, recorded

RECORDINGS = Path(__file__).parent


def begun(**fields: Any) -> Talker:
    hold = Hold(program=("codex",), cwd=Path("/w"), env={"HOME": "/home/nobody"})
    return TALKING.opened(hold._replace(**fields)).talker


@cache
def lines_of(name: str) -> Lines:
    return recorded(RECORDINGS / f"{name}-0.169.0.jsonl")


def scenes_of(name: str) -> list[Scene]:
    return played(begun(), lines_of(name))


def told(talker: Talker, *messages: Any) -> list[Event]:
    return talker.receive(b"".join(json.dumps(each).encode() + b"\n" for each in messages))


def opened_talker() -> Talker:
    """Return a talker whose thread is there, and nothing else."""
    talker = begun()
    lines = lines_of("session")
    first = next(at for at, line in enumerate(lines) if "act" in line)
    played(talker, lines[:first])
    return talker


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "id-1", "turnId": "t", **params}}


def running() -> Talker:
    """Return a talker whose turn ``t`` runs."""
    talker = opened_talker()
    told(talker, notice("turn/started", turn={"id": "t"}))
    return talker


def approval(turn: str = "t", thread: str = "id-1") -> dict[str, Any]:
    line = notice("item/commandExecution/requestApproval", itemId="i", command="ls")
    return {"id": 0, **line, "params": {**line["params"], "turnId": turn, "threadId": thread}}


def asks(method: str, **params: Any) -> dict[str, Any]:
    return {"id": "x", **notice(method, itemId="i", **params)}
