"""What a person answers about the built-in agent is kept in documents, not in their settings.

`agent.json` of a project has permissions; that of Siding's home the effort. Files of settings are
people's own, with comments, and are not written to.
"""

import asyncio
from typing import Any

from siding.assistant.loop.model import Effort
from siding.assistant.loop.permissions.updates import PermissionUpdate
from siding.assistant.settings import ANSWERS_VERSION
from siding.ground.files.durable import make_dirs
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.record.place.project import Project
from siding.record.place.wiring import App


class ProjectAnswers:
    """Keeps permissions for this person, in this project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def keep(self, update: PermissionUpdate) -> None:
        """Keep an update. Raises SidingError and OSError."""
        await asyncio.to_thread(self._keep, update)

    def _keep(self, update: PermissionUpdate) -> None:
        project, path = self._project, self._project.layout.agent_json
        with project.changing("keeping an answer about the agent"):
            document = _answers(path)
            permissions = dict(document.get("permissions") or {})
            _extend(permissions, update.behaviour.value, [rule.text for rule in update.rules])
            _extend(permissions, "directories", list(update.directories))
            document = {**document, "permissions": permissions, "at": project.app.now()}
            write_document(path, document)


def keep_effort(app: App, effort: Effort | int | None) -> None:
    """Keep an effort for all projects; None has none any more. Raises SidingError and OSError."""
    make_dirs(app.home.root)
    document = _answers(app.home.agent_json)
    document.pop("effort", None)
    if effort is not None:
        document["effort"] = effort.value if isinstance(effort, Effort) else effort
    write_document(app.home.agent_json, {**document, "at": app.now()})


def _answers(path: Any) -> dict[str, Any]:
    found = read_document_or_none(path, what="answers", version=ANSWERS_VERSION)
    return {"version": ANSWERS_VERSION, **(found or {})}


def _extend(permissions: dict[str, Any], key: str, more: list[str]) -> None:
    if more:
        permissions[key] = list(dict.fromkeys([*permissions.get(key, ()), *more]))
