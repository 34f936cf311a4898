"""Tasks on disk: ``tasks/<id>/task.json``, one document each.

Changes are read-change-write under the project's lock, which the caller holds; reading needs none.
"""

from collections.abc import Iterator

from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.ids import TaskId, is_fork
from siding.ground.storage.documents import DamagedFile, listed_ids, read_document, write_document
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.task import TASK_VERSION, Task, document_of, task_from


class TaskStore:
    """All tasks of one project."""

    def __init__(self, layout: ProjectLayout) -> None:
        self._layout = layout

    def ids(self) -> list[TaskId]:
        """Return the ids of all tasks, in no particular order."""
        return [TaskId(name) for name in listed_ids(self._layout.tasks_dir)]

    def fork_ids(self) -> list[TaskId]:
        """Return the ids of the tasks of groups, which are not on the board, in no order."""
        return [TaskId(n) for n in listed_ids(self._layout.forks.tasks_dir, is_name=is_fork)]

    def load(self, task_id: TaskId) -> Task:
        """Return the task; raise NotFound when there is none, DamagedFile when it is unreadable."""
        path = self._layout.task(task_id).task_json
        try:
            document = read_document(
                path, what="task", version=TASK_VERSION, required=("id", "name", "status")
            )
        except FileNotFoundError:
            raise NotFound(
                f"there is no task {task_id!r}", hint="`siding task list --all` shows every task"
            ) from None
        try:
            task = task_from(document)
        except (TypeError, ValueError) as error:
            raise DamagedFile(path, str(error)) from error
        if task.id != task_id:
            raise DamagedFile(path, f"it is the document of task {task.id!r}", what="task")
        return task

    def readable(self) -> Iterator[Task]:
        """Yield every task that can be read; `siding doctor` reports the others."""
        for task_id in self.ids():
            try:
                yield self.load(task_id)
            except (NotFound, UnreadableFile):
                continue

    def save(self, task: Task) -> None:
        """Store the task. When this returns, it would survive a power cut."""
        from siding.ground.files.durable import make_dirs

        path = self._layout.task(task.id).task_json
        make_dirs(path.parent)
        write_document(path, document_of(task))
