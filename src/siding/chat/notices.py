"""Tell a person when a conversation begins to wait for them, or broke: once, as of every row.

What its agent asks is told by whoever puts it to a person (`waiter.py`). Ways to tell may take
seconds, so a thread does it.
"""

import threading

from siding.asking.views import InboxEntry
from siding.chat.says import Says
from siding.chat.talk import Talk
from siding.record.place.project import Project
from siding.record.tasks.task import Task


class Notices:
    """Tells of one conversation while a host holds its agent."""

    def __init__(self, project: Project, task: Task, chat: str) -> None:
        self._project, self._task, self._chat = project, task, chat
        self._told: tuple[str, str] | None = None
        self._threads: list[threading.Thread] = []

    def look(self, talk: Talk, *, is_live: bool = True) -> None:
        """Tell what began to wait since the last look."""
        task = (self._task.id, self._task.name)
        says = Says(self._project, task, self._chat, talk, is_live=is_live, is_cut_off=False)
        found = says.needs() or says.broke()
        which = None if found is None else (found.kind, found.title)
        if found is not None and which != self._told:
            thread = threading.Thread(target=self._tell, args=(found,), daemon=True)
            thread.start()
            self._threads.append(thread)
        self._told = which

    def close(self, talk: Talk) -> None:
        """Tell how the agent has ended, and wait until everything is told."""
        self.look(talk, is_live=False)
        for thread in self._threads:
            thread.join()

    def _tell(self, entry: InboxEntry) -> None:
        from siding.asking.notices import notify

        app = self._project.app
        project = Project(app, self._project.layout, self._project.paths)  # stores are of a thread
        for failed in notify(project, entry):
            app.warn(f"a person could not be told of {self._chat}: {failed.output}")
