"""Say what happens to the part of a state that is not files. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from siding.ground.ids import Sha
from siding.record.returning.plan import GitReturn

_COMMANDS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
PARTS = {
    "head": "HEAD",
    "branch": "the task's branch",
    "index": "what is staged",
    "git": "a git command under way",
    "phases": "the phases",
}
"""The parts that `git_lines` names, as words of a sentence."""


def git_lines(plan: GitReturn | None) -> list[tuple[str, str]]:
    """Return lines that say what changes, each with a word for its part."""
    return [] if plan is None else list(_lines(plan))


def under_way(names: Iterable[str]) -> list[str]:
    """Return the git commands that are unfinished, by the names of their small files."""
    tops = {name.partition("/")[0] for name in names}
    return sorted({word for name, word in _COMMANDS.items() if name in tops})


def _lines(plan: GitReturn) -> Iterator[tuple[str, str]]:
    now, then = plan.now, plan.then
    if plan.moves_head:
        after = _at(plan.branch, then.head)
        if plan.branch is not None and plan.branch == now.branch:
            after = _short(then.head)
        yield "head", f"{_at(now.branch, now.head)} -> {after}"
    on_branch = plan.task_branch in (now.branch, plan.branch)
    if plan.tip is not None and not (on_branch and plan.moves_head):
        yield "branch", f"{plan.task_branch} {_short(now.tip)} -> {_short(plan.tip)}"
    if plan.present.entries != plan.wanted.entries:
        yield "index", _index(plan)
    yield from _unfinished(plan.present.files, plan.wanted.files)
    if plan.present.documents != plan.wanted.documents:
        yield "phases", "as they were then"


def _index(plan: GitReturn) -> str:
    entries = plan.wanted.entries
    if entries is None:
        return "gone, as it was then"
    count = len({entry.path for entry in entries})
    if not count:
        return "as HEAD: nothing is staged"
    return f"as it was then: {count} {'path is' if count == 1 else 'paths are'} not as in HEAD"


def _unfinished(present: Mapping[str, Sha], wanted: Mapping[str, Sha]) -> Iterator[tuple[str, str]]:
    if present == wanted:
        return
    before, after = under_way(present), under_way(wanted)
    for word in before:
        if word not in after:
            yield "git", f"the {word} that is under way is set aside, and kept"
    for word in after:
        yield "git", f"a {word} is under way, as it was then"


def _at(branch: str | None, sha: Sha | None) -> str:
    return f"{branch or '(detached)'} {_short(sha)}"


def _short(sha: Sha | None) -> str:
    return "(no commit)" if sha is None else sha[:10]
