"""What people have said that agents may always do, on the disk: FORMAT.md.

Each is kept where it counts: with its conversation, its task, or the project. Nobody keeps what was
read: what is taken back does not count for the next ask.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.chat.store import Chat
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import mappings, text
from siding.record.place.project import Project

_NAME = "always.json"
_VERSION = 1
_WORK = "keeping what an agent may always do"


class AlwaysScope(StrEnum):
    """Where it counts that an agent may always do something."""

    CONVERSATION = "conversation"
    TASK = "task"  # for all agents in conversations of the task
    AGENT = "agent"  # for this agent, in all conversations of the project


class AlwaysRule(NamedTuple):
    """What an agent may always do. `rule` is one of permissions; `may` says it in words."""

    scope: AlwaysScope
    rule: str
    may: str
    agent: str  # to which it was said
    at: str = ""  # ISO 8601
    by: str = ""


class AlwaysRules:
    """What is kept for one conversation; without one what is kept for the project."""

    def __init__(self, project: Project, task_id: TaskId | None, chat: Chat | None) -> None:
        self._project = project
        self._places: dict[AlwaysScope, Path] = {}
        if chat is not None:
            self._places[AlwaysScope.CONVERSATION] = chat.directory / _NAME
        if task_id is not None:
            self._places[AlwaysScope.TASK] = project.task_layout(task_id).root / _NAME
        self._places[AlwaysScope.AGENT] = project.layout.root / _NAME

    def all(self) -> list[AlwaysRule]:
        """Return what is kept, in a fixed order. Raises SidingError for a damaged file."""
        return [each for scope in self._places for each in self._of(scope)]

    def keep(self, new: Iterable[AlwaysRule]) -> None:
        """Keep more; what was said before is kept once. It is on the disk when this returns.

        Raises SidingError and OSError: then nothing of it counts.
        """
        now = self._project.app.now()
        with self._project.changing(_WORK):
            for each in new:
                before = self._of(each.scope)
                if not any(_same(each, other) for other in before):
                    self._write(each.scope, [*before, each._replace(at=now)])

    def forget(self, old: Iterable[AlwaysRule]) -> None:
        """Take back what was kept. What somebody else has taken back is passed over."""
        gone = list(old)
        with self._project.changing(_WORK):
            for scope in dict.fromkeys(each.scope for each in gone):
                left = [each for each in self._of(scope) if not any(_same(each, g) for g in gone)]
                self._write(scope, left)

    def _of(self, scope: AlwaysScope) -> list[AlwaysRule]:
        document = read_document_or_none(
            self._places[scope], what="what an agent may always do", version=_VERSION
        )
        return [_read(scope, each) for each in mappings((document or {}).get("rules"))]

    def _write(self, scope: AlwaysScope, rules: Iterable[AlwaysRule]) -> None:
        records = [dict(zip(_FIELDS, each[1:], strict=True)) for each in rules]
        write_document(self._places[scope], {"version": _VERSION, "rules": records})


_FIELDS = AlwaysRule._fields[1:]


def _read(scope: AlwaysScope, record: Mapping[str, Any]) -> AlwaysRule:
    return AlwaysRule(scope, *(text(record.get(name)) for name in _FIELDS))


def _same(one: AlwaysRule, other: AlwaysRule) -> bool:
    return (one.scope, one.rule, one.agent) == (other.scope, other.rule, other.agent)
