"""Feeds for tests of home."""

from typing import Any

from siding.asking.views import InboxEntry
from siding.feed.model import Ask, AskKind, Feed, Row, RowKind, State

SINCE = "2026-01-01T00:00:00+00:00"
NOW = 1767225600.0 + 125  # two minutes and five seconds later


def row(key: str, state: State = State.RUNS, **more: Any) -> Row:
    """Return a row of a task."""
    usual: dict[str, Any] = {
        "key": key,
        "kind": RowKind.TASK,
        "state": state,
        "project": "flask-0000",
        "project_name": "flask",
        "id": key,
        "name": f"task {key}",
        "what": f"what {key} does",
        "since": SINCE,
        "address": f"siding://flask-0000/{key}",
    }
    return Row(**{**usual, **more})


def ask(name: str, of: str, kind: AskKind = AskKind.FAILURE, title: str = "") -> Ask:
    """Return an ask of a row."""
    entry = InboxEntry(
        kind="failed",
        project="flask",
        repo_root="/flask",
        project_dir="/home/flask-0000",
        title=title or f"title of {name}",
        detail="",
        since=SINCE,
        command="siding inbox",
        page="",
        task_id=of,
    )
    return Ask(name, kind, entry, of, f"siding://flask-0000/~asks/{name}")


def feed(*rows: Row, asks: tuple[Ask, ...] = (), projects: int = 1) -> Feed:
    return Feed(epoch=1, seq=1, rows=rows, asks=asks, problems=(), projects=projects)
