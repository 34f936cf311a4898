"""Rollback, close, gc and apply while others work: git, or another command, at any of their calls.

The victim is frozen at a call; the rival runs to its end or until it waits for a lock; then the
victim goes on. Each may refuse, but neither may cost the other anything.
"""

import os
from pathlib import Path

import pytest

from . import test_apply_faults as applying
from . import test_undo_faults as undoing
from . import tracer
from .arena import Command, GateFailed
from .commands import act
from .harness import sweep
from .product import must, siding

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),
]

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
PRUNE = ("git", "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now")


def said(word: str, *argv: str, cwd: str = "{case}/repo") -> Command:
    """A command that says the word when it ended well: its promise."""
    inner = siding(*argv[1:]) if argv[0] == "siding" else Command(argv=argv, cwd=cwd)
    script = f'"$@" >&2 && echo {word}'
    return inner._replace(argv=("sh", "-c", script, "sh", *inner.argv))


# Beside a rollback, a closing and a gc.


def test_a_run_comes_while_going_back() -> None:
    """It waits its turn: whatever came first, both are whole and every state is reached."""

    def check(case: Path, promises: list[str]) -> None:
        undoing.rollback_holds(case, promises)
        desk = undoing.Desk(case)
        found = list(desk.project.ledger(desk.project.tasks.ids()[0]).steps())
        runs = [step for step in found if step.cmd == ("touch", "beside")]
        assert len(runs) == promises.count("ran")
        assert all(step.diff_stat.file_list == ("beside",) for step in runs)

    rival = said("ran", "siding", "run", "--wait", "--", "touch", "beside")
    victim = siding("rollback", "--step", "1", "--wait")
    sweep(undoing.begun, victim, check, modes=("stop",), budget=BUDGET, rival=rival)


def test_the_agent_commits_while_going_back() -> None:
    """Its commit is kept, whenever it came: a rollback leaves it behind with the steps."""

    def check(case: Path, promises: list[str]) -> None:
        undoing.rollback_holds(case, promises)
        (store,) = (case / "home/projects").glob("*/snapshots.git")
        shown = must(
            case,
            Command(
                argv=("git", "log", "--all", "--format=%s"),
                env={"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(case / "repo/.git/objects")},
                cwd=str(store),
            ),
        )
        assert shown.stdout.split().count("agents") == promises.count("committed")

    script = "cd home/projects/*/workspaces/* && git commit -q --allow-empty -am agents"
    rival = said("committed", "sh", "-c", script, cwd="{case}")
    victim = siding("rollback", "--step", "1")
    sweep(undoing.begun, victim, check, modes=("stop",), budget=BUDGET, rival=rival)


@pytest.mark.parametrize("words", [("rollback", "--step", "1"), ("task", "close", "-f", "T")])
def test_everything_unreachable_is_pruned_meanwhile(words: tuple[str, ...]) -> None:
    def check(case: Path, promises: list[str]) -> None:
        must(case, Command(argv=PRUNE, cwd="{case}/repo"))
        if words[0] == "rollback":
            undoing.rollback_holds(case, promises)
        else:
            undoing.two_is_reached_by_reopening(case, promises)
        undoing.Desk(case).is_whole()

    words = tuple("--force" if word == "-f" else word for word in words)
    rival = said("pruned", *PRUNE)
    sweep(undoing.begun, siding(*words), check, modes=("stop",), budget=BUDGET, rival=rival)


def test_the_task_is_reopened_while_it_is_freed() -> None:
    def check(case: Path, promises: list[str]) -> None:
        undoing.two_is_reached_by_reopening(case, promises)

    rival = siding("task", "reopen", "T")
    sweep(undoing.closed, siding("gc"), check, modes=("stop",), budget=BUDGET, rival=rival)


# Beside an apply.


def test_the_person_commits_during_an_apply() -> None:
    """What she staged is committed or not; the change is applied or not; nothing is reverted."""
    victim = siding("apply", "--no-close")
    sweep(
        applying.begun,
        said_by(victim),
        nothing_is_reverted,
        modes=("stop",),
        budget=2 * BUDGET,
        rival=HERS,
        within=("repo",),
    )


def test_the_person_commits_while_an_apply_is_taken_back() -> None:
    def check(case: Path, promises: list[str]) -> None:
        nothing_is_reverted(case, [word for word in promises if word == "hers"])
        if "applied" in promises:  # said by the undo
            assert not (case / "repo/new").exists()

    sweep(
        applying.applied,
        said_by(siding("undo")),
        check,
        modes=("stop",),
        budget=2 * BUDGET,
        rival=HERS,
        within=("repo",),
    )


def test_everything_unreachable_is_pruned_while_a_task_is_reopened() -> None:
    rival = said("pruned", *PRUNE)
    victim = siding("task", "reopen", "T")
    check = undoing.two_is_reached_by_reopening
    sweep(undoing.closed, victim, check, modes=("stop",), budget=BUDGET, rival=rival)


def test_git_collects_during_an_apply() -> None:
    def check(case: Path, promises: list[str]) -> None:
        applying.apply_holds(case, [word for word in promises if word == "applied"])

    victim = siding("apply", "--no-close")
    sweep(
        applying.begun,
        said_by(victim),
        check,
        modes=("stop",),
        budget=BUDGET,
        rival=said("pruned", *PRUNE),
    )


def test_a_branch_moved_without_gits_lock_would_be_seen() -> None:
    """The planted mistake is plain git: branch first, then the checkout, with no lock held."""
    script = (
        "set -e; new=$(cat ../new); old=$(git rev-parse main); "
        "git update-index -q --refresh || true; "
        "git update-ref refs/heads/main $new $old; git read-tree -m -u $old $new; echo applied"
    )
    victim = Command(argv=("sh", "-c", script), cwd="{case}/repo")
    with pytest.raises(GateFailed):
        sweep(
            made_ready,
            victim,
            nothing_is_reverted,
            modes=("stop",),
            budget=40,
            rival=HERS,
            within=("repo",),
        )


HERS = said("hers", "git", "commit", "-q", "-m", "hers")


def said_by(victim: Command) -> Command:
    return victim._replace(argv=("sh", "-c", '"$@" >&2 && echo applied', "sh", *victim.argv))


def made_ready(case: Path) -> None:
    """As `applying.begun`, and the commit that the apply would make is at `<case>/new`."""
    applying.begun(case)
    script = (
        "set -e; cd home/projects/*/workspaces/*; git add -A; git commit -qm more; "
        "git rev-parse HEAD >{case}/new"
    )
    must(case, Command(argv=("sh", "-c", script)))


def nothing_is_reverted(case: Path, promises: list[str]) -> None:
    act(case, "doctor")
    log = applying.git(case, "log", "--format=%s", "main").split("\n")
    names = applying.git(case, "ls-tree", "-r", "--name-only", "main").split()
    side = applying.NEW if "new" in names else applying.OLD
    assert (side is applying.NEW) or "applied" not in promises, (promises, names)
    committed = "hers" in log
    assert committed == ("hers" in promises)
    expected = {**side, **({"staged": "staged\n"} if committed else {})}
    at = {name: applying.git(case, "show", f"main:{name}") for name in names}
    assert at == expected
    here = {path.name: path.read_text() for path in (case / "repo").iterdir() if path.is_file()}
    assert here == {**side, "mine": "not committed\n", "staged": "staged\n"}
    status = applying.git(case, "status", "--porcelain").splitlines()
    assert sorted(status) == [" M mine", *([] if committed else ["A  staged"])]
    applying.clean(case)
