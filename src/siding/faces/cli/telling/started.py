"""Print a task that is new, or that was brought back: its workspace, and what that lacks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import ago, changes_of
from siding.ground.errors import counted
from siding.record.workspaces.beginning import StartPoint
from siding.tasks.reopen import Reopened
from siding.tasks.start import Started
from siding.tasks.startcard import StartCard

if TYPE_CHECKING:
    from siding.record.recording.steps import Step

NAMED = 5  # names that a note lists; the others are counted


def say_started(screen: Screen, started: Started) -> None:
    """Print the task that was just started."""
    task = started.task
    screen.note(f"task {task.id} · {task.name}", "bold")
    if started.workspace is not None:
        screen.note(f"  workspace {started.workspace.path}")
        screen.note(f"  branch    {started.workspace.branch}")
    if started.card is not None:
        say_card(screen, started.card)
    if started.begun is not None:
        _say_from(screen, started.begun, started.carried)
    elif started.carried is not None:
        step = started.carried
        screen.note(f"  carried   your uncommitted changes, as step {step.id}: {_changed(step)}")
    for note in started.notes:
        screen.note(f"  note      {inert(note)}", "yellow")
    for hook in started.hooks:
        if hook.exit_code != 0:
            screen.warn(f"post_create hook {hook.command!r} ended with {hook.exit_code}")
            screen.quote(hook.output)
    if started.untrusted_hooks:
        screen.note(
            f"  hooks     {counted(started.untrusted_hooks, 'hook')} of the repository did not "
            "run; `siding trust` shows and allows them",
            "yellow",
        )


def _say_from(screen: Screen, begun: StartPoint, step: "Step | None") -> None:
    """Print where the workspace starts, and what that has which the base has not."""
    what = "the same as the base" if step is None else f"as step {step.id}: {_changed(step)}"
    screen.note(f"  from      {inert(begun.title)} at {begun.commit[:10]}, {what}")


def _changed(step: "Step") -> str:
    return changes_of(step)


def say_card(screen: Screen, card: StartCard) -> None:
    """Print what the workspace begins with, and what it lacks."""
    screen.note(
        f"  base      {card.base_ref} at {card.base_commit[:10]} "
        f"({ago(card.base_time)}: {card.base_subject})"
    )
    if card.left_out_count:
        screen.note(
            f"  left out  {counted(card.left_out_count, 'uncommitted file')} of your checkout: "
            f"{_some(card.left_out, card.left_out_count)} (--carry takes them along)",
            "yellow",
        )
    if card.nested:
        screen.note(
            "  nested    repositories inside your checkout, which --carry does not take along: "
            f"{_some(card.nested, len(card.nested))}",
            "yellow",
        )
    if card.included_count:
        screen.note(f"  copied    {_some(card.included, card.included_count)} (.worktreeinclude)")
    if card.tied:
        screen.note(
            f"  tied      to your checkout: the scripts in {', '.join(card.tied)} name the one "
            "there (activate, pip, …); a post_create hook can make a new one instead",
            "yellow",
        )
    if card.missing_count:
        screen.note(
            f"  missing   ignored here, not there: {_some(card.missing, card.missing_count)} "
            "(.worktreeinclude copies such files)"
        )
    if card.partly:
        screen.note(f"  partly    the rest of {_some(card.partly, len(card.partly))} is not there")
    if card.submodules:
        screen.note(
            f"  empty     submodules: {_some(card.submodules, len(card.submodules))} "
            "(`git submodule update --init` in the workspace)",
            "yellow",
        )
    if card.lfs == "pointers" and not any(each["name"] == "lfs" for each in card.off):
        screen.note("  LFS       files are pointers: git-lfs could not be used here", "yellow")
    for each in card.off:
        screen.note(f"  {_off_words(each)}", "yellow")
    if card.sparse:
        screen.note("  sparse    the workspace has the sparse checkout of this repository")
    if card.shallow:
        screen.note("  shallow   this clone has no full history")


def _off_words(each: Mapping[str, Any]) -> str:
    """Return the line about files whose filter or merge driver is off."""
    name, patterns, count = str(each["name"]), list(each["patterns"]), int(each["files"])
    which = f"{_some(patterns, len(patterns))} ({counted(count, 'file')})" if patterns else None
    about = inert(f"{name}: {which or counted(count, 'file')}")
    if each["kind"] == "merge":
        return f"merge     off: driver {about}; `siding trust` shows what it runs and allows it"
    return (
        f"filter    off: {about}, here as git stores them; no change of them is applied until "
        "`siding trust` allows the filter"
    )


def _some(names: Sequence[str], count: int) -> str:
    listed = ", ".join(names[:NAMED])
    return listed if count <= NAMED else f"{listed} and {count - NAMED} more"


def tell_reopened(screen: Screen, done: Reopened) -> None:
    """Print the task, its workspace and what could not be brought back as it was."""
    screen.note(f"opened task {done.task.id} · {done.task.name} again", "green")
    if done.workspace is not None:
        screen.note(f"  workspace {done.workspace.path}")
    for note in done.notes:
        screen.note(f"  {note}")
    if not done.active:
        screen.note(f"  `siding task switch {done.task.id}` makes it the active one")
