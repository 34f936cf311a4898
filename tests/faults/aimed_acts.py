"""The acts that move files of a workspace or of the person's checkout, and where each starts.

All go between two states of the same few files. ONE is the first commit of the repository; TWO is
what a recorded run made of it. So each act rewrites `file`, makes one of `gone` and `made`, takes
the other away, and does the same with a directory.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from . import toy_exchange
from .arena import Command, Setup
from .commands import act
from .product import must, siding
from .test_fork_faults import victim as on_a_fork

LONG = "This line is long enough for a token to be stored over it.\n" * 2
MADE, INNER = "made", "back/inner"  # what ONE has and TWO has not
GONE, DEEP = "gone", "dir/deep"  # what TWO has and ONE has not
COMMIT = "git -c user.name=B -c user.email=b@b commit -q -m"
TO_TWO = (
    f"echo two >>file; printf '%s' \"$0\" >{GONE}; mkdir dir; printf '%s' \"$0\" >{DEEP};"
    f" git rm -q {MADE} {INNER}; chmod +x tool; git add -A; {COMMIT} two"
)


class Side(NamedTuple):
    """The paths at one end of an act that the other end has not."""

    file: str
    inner: str  # alone in its directory


ONE, TWO = Side(MADE, INNER), Side(GONE, DEEP)
NOTHING = Side("", "")
IGNORED = Side("ignored", "ignored-too/inner")


class MovingAct(NamedTuple):
    """An act; `root` is where it moves files, `leaves` and `makes` what goes and what comes."""

    setup: Setup
    command: Command
    root: Callable[[Path], Path]
    leaves: Side
    makes: Side
    rewrites: tuple[str, ...] = ("file", "tool")


def begun(case: Path) -> None:
    """A task whose one run committed TWO; the person's checkout is at ONE."""
    repo = case / "repo"
    (repo / "back").mkdir(parents=True)
    for name in ("file", "tool", "quiet", MADE, INNER):
        (repo / name).write_text(f"{name}\n{LONG}", encoding="utf-8")
    for words in ("git init -q -b main --template=", "git add -A", f"{COMMIT} one"):
        _shell(case, words, repo)
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "run", "--", "sh", "-c", TO_TWO, LONG)


def rolled_back(case: Path) -> None:
    begun(case)
    act(case, "-q", "rollback", "--base")


def undone(case: Path) -> None:
    rolled_back(case)
    act(case, "-q", "undo")


def applied(case: Path) -> None:
    begun(case)
    act(case, "-q", "apply", "--no-close")


def applied_as_patch(case: Path) -> None:
    begun(case)
    act(case, "-q", "apply", "--mode", "patch", "--no-close")


def apply_undone(case: Path) -> None:
    applied(case)
    act(case, "-q", "undo")


def closed(case: Path) -> None:
    begun(case)
    act(case, "-q", "task", "close", "--force", "T")


def collected(case: Path) -> None:
    """The workspace of a closed task is in an archive."""
    closed(case)
    act(case, "-q", "gc")


def behind(case: Path) -> None:
    """A task at ONE; the branch that it began from has moved on to TWO."""
    begun(case)
    act(case, "-q", "rollback", "--base")
    _shell(case, TO_TWO, case / "repo", LONG)


def behind_with_commits(case: Path) -> None:
    """As `behind`, and the task has a commit of its own."""
    behind(case)
    act(case, "-q", "run", "--", "sh", "-c", f"echo own >>own; git add own; {COMMIT} own")


def disagreeing(case: Path) -> None:
    """As `behind`, and the task and the branch disagree about `quiet`."""
    behind(case)
    _shell(case, f"echo theirs >>quiet; {COMMIT} theirs -a", case / "repo")
    act(case, "-q", "run", "--", "sh", "-c", "echo ours >>quiet")


def resolving(case: Path) -> None:
    """The branch was merged into the workspace of `disagreeing`, with markers in `quiet`."""
    disagreeing(case)
    act(case, "-q", "apply", "--resolve")


def forked(case: Path) -> None:
    """A task at ONE, and a fork of it that was brought to TWO."""
    begun(case)
    act(case, "-q", "rollback", "--base")
    must(case, on_a_fork("make"))
    _shell(case, TO_TWO, fork(case), LONG)


def brought_back(case: Path) -> None:
    forked(case)
    must(case, on_a_fork("back"))


def forked_with_ignored_files(case: Path) -> None:
    """Its workspace can serve again, but for these files."""
    forked(case)
    script = 'echo "ignored*" >.gitignore; mkdir ignored-too; for each; do echo 1 >"$each"; done'
    _shell(case, script, fork(case), "sh", *IGNORED)


def forked_with_a_pipe(case: Path) -> None:
    """Its workspace cannot serve again, since no snapshot has that."""
    forked(case)
    _shell(case, "mkfifo pipe", fork(case))


def ahead(case: Path) -> None:
    """A repository without Siding: the checkout is at TWO, `one` is a tag at ONE."""
    repo = case / "repo"
    (repo / "back").mkdir(parents=True)
    for name in ("file", "tool", "quiet", MADE, INNER):
        (repo / name).write_text(f"{name}\n{LONG}", encoding="utf-8")
    for words in ("git init -q -b main --template=", "git add -A", f"{COMMIT} one", "git tag one"):
        _shell(case, words, repo)
    _shell(case, TO_TWO, repo, LONG)


def prepared(case: Path) -> None:
    """As `ahead`, and the files of ONE are in a directory beside, for `toy_exchange`."""
    ahead(case)
    (case / "wanted").mkdir()
    _shell(
        case, "git archive one | tar -x -C ../wanted; chmod -R u=rwX,go=rX ../wanted", case / "repo"
    )


def unsaved(case: Path) -> None:
    """As `ahead`, but TWO is not committed: it is what is staged."""
    ahead(case)
    _shell(case, "git reset -q --soft one", case / "repo")


def _shell(case: Path, script: str, directory: Path, *args: str) -> None:
    must(case, Command(argv=("sh", "-ec", script, *args), cwd=str(directory)))


def workspace(case: Path) -> Path:
    """Where the workspace of the only task is, or was, or will be."""
    (task,) = (case / "home/projects").glob("*/tasks/*")
    return task.parents[1] / "workspaces" / task.name


def fork(case: Path) -> Path:
    """Where the workspace of the only fork is."""
    (found,) = (case / "home/projects").glob("*/forks/workspaces/*")
    return found


def checkout(case: Path) -> Path:
    return case / "repo"


def _in_workspace(setup: Setup, leaves: Side, makes: Side, *words: str) -> MovingAct:
    return MovingAct(setup, siding(*words), workspace, leaves, makes)


def _of_the_fork(act: str) -> Command:
    """`siding task bring-back`, say, of the only fork, whose id is another one each time."""
    script = f'set -- ../home/projects/*/forks/tasks/fork-*; exec "$0" task {act} "${{1##*/}}"'
    command = siding()
    return command._replace(argv=("sh", "-c", script, *command.argv))


def _in_checkout(setup: Setup, leaves: Side, makes: Side, *words: str) -> MovingAct:
    return MovingAct(setup, siding(*words), checkout, leaves, makes)


def acts() -> dict[str, MovingAct]:
    """Every act of Siding that moves files, by name. Needs the installed product."""
    table = {
        "rollback": _in_workspace(begun, TWO, ONE, "rollback", "--base"),
        "rollback --hard": _in_workspace(begun, TWO, ONE, "rollback", "--base", "--hard"),
        "undo": _in_workspace(rolled_back, ONE, TWO, "undo"),
        "redo": _in_workspace(undone, TWO, ONE, "redo"),
        "retry": _in_workspace(begun, TWO, ONE, "retry", "1", "--", "true"),
        "sync": _in_workspace(behind, ONE, TWO, "sync"),
        "sync that merges": _in_workspace(behind_with_commits, ONE, TWO, "sync"),
        "sync --rebase": _in_workspace(behind_with_commits, ONE, TWO, "sync", "--rebase"),
        "bring-back": MovingAct(forked, _of_the_fork("bring-back"), workspace, ONE, TWO),
        "undo of a bring-back": _in_workspace(brought_back, TWO, ONE, "undo"),
        "task drop": MovingAct(
            forked_with_ignored_files, _of_the_fork("drop"), fork, IGNORED, NOTHING
        ),
        "task drop for good": MovingAct(
            forked_with_a_pipe, _of_the_fork("drop"), fork, TWO, NOTHING
        ),
        "apply --resolve": _in_workspace(disagreeing, ONE, TWO, "apply", "--resolve"),
        "apply --abort": _in_workspace(resolving, TWO, ONE, "apply", "--abort"),
        "undo of an apply": _in_checkout(applied, TWO, ONE, "undo"),
        "undo of a patch": _in_checkout(applied_as_patch, TWO, ONE, "undo"),
        "redo of an apply": _in_checkout(apply_undone, ONE, TWO, "redo"),
        "worktree remove": _in_workspace(begun, TWO, NOTHING, "worktree", "remove", "--force"),
        "task close": _in_workspace(begun, TWO, NOTHING, "task", "close", "--force"),
        "task reopen": _in_workspace(closed, NOTHING, TWO, "task", "reopen", "T"),
        "task reopen from an archive": _in_workspace(
            collected, NOTHING, TWO, "task", "reopen", "T"
        ),
    }
    for mode in ("commit", "rebase", "squash", "merge", "patch"):
        words = ("apply", "--mode", mode, "--no-close")
        table[f"apply --mode {mode}"] = _in_checkout(begun, ONE, TWO, *words)
    return table


def git_acts() -> dict[str, MovingAct]:
    """What git itself does with the same files, for a comparison."""
    commands = {
        "git checkout": (ahead, ("git", "checkout", "one", "--", ".")),
        "git reset --hard": (ahead, ("git", "reset", "--hard", "one")),
        "git stash": (unsaved, ("git", "stash")),
    }
    return {
        name: MovingAct(setup, Command(argv=argv, cwd="{case}/repo"), checkout, TWO, ONE)
        for name, (setup, argv) in commands.items()
    }


def toy_act() -> MovingAct:
    """The same by exchanging files."""
    words = (toy_exchange.__file__, *("{case}/repo", "{case}/wanted", "{case}/trash"))
    command = Command(argv=(sys.executable, "-I", "-S", *words))
    return MovingAct(prepared, command, checkout, TWO, ONE)


NAMES = (
    "rollback",
    "rollback --hard",
    "undo",
    "redo",
    "retry",
    "sync",
    "sync that merges",
    "sync --rebase",
    "bring-back",
    "undo of a bring-back",
    "task drop",
    "task drop for good",
    "apply --mode commit",
    "apply --mode rebase",
    "apply --mode squash",
    "apply --mode merge",
    "apply --mode patch",
    "apply --resolve",
    "apply --abort",
    "undo of an apply",
    "undo of a patch",
    "redo of an apply",
    "worktree remove",
    "task close",
    "task reopen",
    "task reopen from an archive",
)
GIT_NAMES = ("git checkout", "git reset --hard", "git stash")
