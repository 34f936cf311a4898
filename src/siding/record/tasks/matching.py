"""Which tasks a person means by what was typed: their ids, names, or any part of a name. No I/O."""

from collections.abc import Callable, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.record.tasks.task import Task

IMPORTED = "imported"  # in a task's metadata: where it came from, and its id there


class Known(NamedTuple):
    """A task with the words that it is found by. `worktree` is the name of its workspace."""

    task: Task
    worktree: str = ""

    @property
    def other_id(self) -> str:
        """The id that the task has in the tool that it was imported from, "" for none."""
        mark = self.task.metadata.get(IMPORTED)
        return str(mark.get("id") or "") if isinstance(mark, dict) else ""


def meant(named: str, known: Sequence[Known]) -> list[Task]:
    """Return the tasks that fit best: those of the first of these ways that finds any.

    The name as it is; the id in another tool; the beginning of an id; the name of the workspace;
    the name whatever the case; the beginning of a word of the name; any part of it.
    """
    if not named:
        return []
    folded = named.casefold()
    ways: tuple[Callable[[Known], bool], ...] = (
        lambda each: each.task.name == named,
        lambda each: each.other_id == named,
        lambda each: each.task.id.startswith(named),
        lambda each: each.worktree == named,
        lambda each: each.task.name.casefold() == folded,
        lambda each: _begins_a_word(folded, each.task.name.casefold()),
        lambda each: folded in each.task.name.casefold(),
    )
    for fits in ways:
        found = [each.task for each in known if fits(each)]
        if found:
            return found
    return []


def _begins_a_word(text: str, name: str) -> bool:
    """Tell whether `text` stands in `name` where a word begins."""
    at = name.find(text)
    while at >= 0:
        if at == 0 or not name[at - 1].isalnum():
            return True
        at = name.find(text, at + 1)
    return False
