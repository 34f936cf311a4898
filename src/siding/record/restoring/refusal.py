"""Why going back is refused: all reasons, each with what is said and the way out.

Every verb that restores a state raises `Refusal` with one of `Reason`; `REASONS_OF`, below, has the
reasons of each. After it nothing was changed. What an act may be refused for that does not only go
back is said elsewhere, and is raised before anything was changed, too (files below `siding`):

- No task is meant: `NoActiveTask`, `NotFound` (`ground/errors.py`), or several: `SeveralTasks`
  (`record/place/named_task.py`).
- The project is not at hand: `NotInitialised` (`ground/errors.py`), `RepositoryGone`
  (`record/place/project.py`), `HomeCopied` (another home has it, `record/place/home_mark.py`),
  `HomeHidden` (inside a sandbox, `record/place/wiring.py`).
- The task is busy: `TaskBusy` (`record/tasks/task.py`), or what runs in it cannot be paused:
  `CannotPause` (`ground/process/pauser.py`), `NeverQuiet` (`record/acts/pausing.py`).
- It has no workspace, or not the one that was made for it: `NoWorkspace`
  (`record/place/task_workspace.py`), `WorkspaceReplaced` (`ground/git/errors.py`). git does not
  know the workspace: `LinkBroken` (`record/unfinished/broken_link.py`); going back works without
  the link, a run (so the second half of a retry) does not.
- A state is gone: `SnapshotFreed` (`record/recording/freed.py`), `BaseUnknown`
  (`record/recording/recorder.py`). It is damaged, or the present one cannot be recorded:
  `SnapshotDamaged`, `SnapshotFailed` (`ground/git/errors.py`). A newer Siding wrote it:
  `NewerVersion`; a record cannot be read: `DamagedFile` (both `ground/storage/errors.py`). There is
  no room on the disk: `OSError`, told as such by the face.
- A branch or a checkout cannot be moved: `IndexLocked`, `TargetMoved`, `CheckoutBusy`,
  `Overlapping` and the others of `UNCHANGED` (`record/moving/model.py`).
- An undo that opens a closed task: what `reopen` raises (`tasks/reopen.py`; several deleted tasks
  of one name, or something stands in the way), with `bring_back`
  (`record/workspaces/restoration.py`): `BranchExists`, `BranchInUse` (`ground/git/errors.py`). A
  redo that closes it again: what `tasks/close.py` raises.

A row has: the word for programs (`code`), the message, the way out, and the exit status. `{words}`
are the facts that the one who refuses knows.
"""

from collections.abc import Mapping
from enum import Enum

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.namedtuples import NamedTuple

_AS_USUAL = "the way out"
_AGAIN = "nothing was done; end what works in there, then try again"
_PROMPT_BY_HAND = (
    "`siding rewind {number}` goes back to before it; then give it to the agent again, or: "
    "siding retry {number} -- COMMAND"
)


class Row(NamedTuple):
    """What is said for a reason. `on_page` is the way out where no command can be typed."""

    code: str
    message: str
    way_out: str | None = None
    exit_code: int = 1
    on_page: str | None = _AS_USUAL


class Reason(Enum):
    """Why going back is refused. The order is that in which an act finds it."""

    # What shall be gone back to is not there.
    NOTHING_TO_UNDO = Row(
        "nothing_to_undo",
        "nothing to undo in task {task!r}",
        "`siding rollback --step N` goes back to any step; `siding log` shows them",
        on_page=None,
    )
    NOTHING_TO_REDO = Row("nothing_to_redo", "nothing to redo in task {task!r}")
    WENT_ON_SINCE = Row(
        "nothing_to_redo",
        "step {step} ({title}) came after what was undone",
        "`siding log` shows every state; `siding rollback --step N` goes to any of them",
    )
    TASK_IS_CLOSED = Row(
        "nothing_to_redo",
        "task {task} is closed",
        "`siding undo` opens it again",
        on_page="undo opens it again",
    )
    NO_RUN = Row(
        NotFound.code,
        "no run of task {task!r} is on its line",
        "`siding log` shows all steps; `siding retry N` does step N again",
    )
    NO_PROMPT = Row(
        NotFound.code,
        "{what} in task {task!r}",
        "`siding rewind --list` shows the prompts, `siding rollback --step N` goes anywhere",
    )
    NO_BASE = Row(
        NotFound.code,
        "the base of this task was not recorded yet",
        "`siding checkpoint` does that, from the commit its branch left its base at; "
        "`siding doctor` says if something is lost",
    )
    NO_SNAPSHOT = Row(
        NotFound.code,
        "step {step} has no snapshot",
        "it comes from another tool, or was never recorded whole",
    )
    NOTHING_BEFORE = Row(NotFound.code, "step {step} does not say what was before it")
    NO_BEGINNING = Row(NotFound.code, "the state in which step {step} began is not recorded")

    # The step cannot be done again.
    NO_COMMAND = Row(
        UsageError.code,
        "step {step} is no run ({kind}), so it has no command",
        "siding retry {number} -- COMMAND",
        UsageError.exit_code,
    )
    SECRET_IN_COMMAND = Row(
        UsageError.code,
        "a secret in the command or the environment of step {step} was not recorded",
        "give the command again: siding retry {number} -- COMMAND",
        UsageError.exit_code,
    )
    SECRET_IN_PROMPT = Row(
        UsageError.code,
        "a secret in the prompt of step {step} was not recorded",
        _PROMPT_BY_HAND,
        UsageError.exit_code,
    )
    PROMPT_CUT_SHORT = Row(
        UsageError.code,
        "only the first {characters} characters of that prompt were recorded",
        _PROMPT_BY_HAND,
        UsageError.exit_code,
    )
    AGENT_STARTED_ELSEWHERE = Row(
        UsageError.code,
        "the agent of step {step} was not started by `siding run`, so how it is started again is "
        "not known",
        "`siding rewind {number}` goes back to before the prompt",
        UsageError.exit_code,
    )
    AGENT_TAKES_NO_PROMPT = Row(
        UsageError.code,
        "how {agent} is given a prompt on its command line is not known",
        "siding retry {number} -- COMMAND",
        UsageError.exit_code,
    )
    AGENT_WITHOUT_TERMINAL = Row(
        "not_taken",
        "the agent of step {step} lives ({run}) and cannot be sent a prompt: it has no terminal",
        "nothing was changed. --stop ends it, and starts it again with the prompt",
    )

    # An apply cannot be taken back, or done again.
    APPLY_OF_OTHERS = Row("cannot_undo", "step {step} is not an apply that Siding can take back")
    APPLY_PUSHED = Row(
        "cannot_undo",
        "the commits of step {step} were pushed: {remotes} has them",
        "`git revert` makes a commit that takes them back on {branch}",
    )
    APPLY_GONE = Row(
        "cannot_undo",
        "the commits of step {step} are no longer in the repository",
        "`siding apply` makes new ones",
    )
    APPLY_DAMAGED = Row("cannot_undo", "the commits of step {step} are no longer in the repository")
    BRANCH_MOVED_ON = Row(
        "cannot_undo",
        "branch {branch!r} is at {at} now, not where step {step} belongs ({commit})",
        "what came after it would be lost; `git revert` takes single commits back",
    )

    # A person has to agree first.
    CHANGED_SINCE = Row(
        "needs_consent",
        "changes made after step {step}{made_by} would be taken back with it: {paths}",
        "--force takes them along; the next undo or redo brings them back",
    )
    INCOMPLETE = Row(
        "needs_consent",
        "the snapshot of {state} is incomplete: {lacks}",
        "--force goes on all the same; --dry-run shows what it does",
    )
    IN_THE_WAY = Row(
        "in_the_way",
        "no snapshot has what stands in the way, {count}: {paths}",
        "--force moves them into the trash first; or move them elsewhere yourself",
    )

    # The workspace cannot be moved as it is.
    GIT_OF_ITS_OWN = Row(
        "git_of_its_own",
        "a sandboxed run of task {task} works on a copy of its git directory, which cannot go back "
        "with the workspace: {why}",
        "nothing was changed. --stop ends the runs first; `siding rollback --step N --files` takes "
        "files alone",
    )
    CANNOT_MOVE = Row(
        "cannot_move",
        "files that have to be moved cannot be: {files}",
        "nothing was changed. {ways}. Then try again; PATHs of a rollback go back without the "
        "others",
    )
    FILES_CHANGING = Row(
        "moving", "the workspace is being changed by somebody else: {paths}", _AGAIN
    )
    GIT_CHANGING = Row(
        "moving", "HEAD or the index of the workspace is being changed by somebody else", _AGAIN
    )
    HEAD_HELD = Row(
        "checkout_busy",
        "HEAD of {root!r} could not be moved: {said}",
        "another git may be at work there; try again. Nothing was changed",
    )

    def words(self, **facts: object) -> str:
        """Return the message."""
        return self.value.message.format(**facts)

    @property
    def asks(self) -> bool:
        """Whether a person's yes is enough to go on."""
        return self in (Reason.CHANGED_SINCE, Reason.INCOMPLETE)


# What any way back may meet, and what only those that take HEAD and the index along.
_FILES = (Reason.IN_THE_WAY, Reason.CANNOT_MOVE, Reason.FILES_CHANGING)
_GIT = (Reason.GIT_CHANGING, Reason.HEAD_HELD)
_ALL_PARTS = (Reason.GIT_OF_ITS_OWN, *_FILES, *_GIT)
_APPLY = (Reason.APPLY_OF_OTHERS, Reason.APPLY_DAMAGED, Reason.BRANCH_MOVED_ON)
# What each verb may be refused for. It is for readers; a test compares it with where they are
# raised.
REASONS_OF: Mapping[str, tuple[Reason, ...]] = {
    "undo": (
        Reason.NOTHING_TO_UNDO,
        Reason.NOTHING_BEFORE,
        Reason.CHANGED_SINCE,
        *_APPLY,
        Reason.APPLY_PUSHED,
        *_ALL_PARTS,
    ),
    "redo": (
        Reason.NOTHING_TO_REDO,
        Reason.WENT_ON_SINCE,
        Reason.TASK_IS_CLOSED,
        Reason.NOTHING_BEFORE,
        Reason.CHANGED_SINCE,
        *_APPLY,
        Reason.APPLY_GONE,
        *_ALL_PARTS,
    ),
    "rollback": (
        Reason.NO_BASE,  # with --dry-run: else the base is recorded first
        Reason.NO_SNAPSHOT,
        Reason.INCOMPLETE,
        *_ALL_PARTS,
    ),
    "rewind": (Reason.NO_PROMPT, Reason.NO_SNAPSHOT, Reason.INCOMPLETE, *_ALL_PARTS),
    "retry": (
        Reason.NO_RUN,
        Reason.NOTHING_BEFORE,
        Reason.NO_BEGINNING,
        Reason.NO_COMMAND,
        Reason.SECRET_IN_COMMAND,
        Reason.SECRET_IN_PROMPT,
        Reason.PROMPT_CUT_SHORT,
        Reason.AGENT_STARTED_ELSEWHERE,
        Reason.AGENT_TAKES_NO_PROMPT,
        Reason.AGENT_WITHOUT_TERMINAL,
        Reason.INCOMPLETE,
        *_ALL_PARTS,
    ),
    "sync": _ALL_PARTS,
    "apply --resolve": _FILES,
    "apply --abort": _ALL_PARTS,
    "task bring-back": _FILES,
    # And whatever else starts a task from the state of another, such as `task start --from`.
    "fork": (Reason.NO_SNAPSHOT, *_FILES, *_GIT),
}


class Refusal(SidingError):
    """A state is not restored, for the `reason`. Nothing was changed.

    `facts` are the words of the reason's message and way out.
    """

    def __init__(self, reason: Reason, *, on_page: bool = False, **facts: object) -> None:
        row = reason.value
        way_out = row.on_page if on_page and row.on_page is not _AS_USUAL else row.way_out
        super().__init__(reason.words(**facts), hint=way_out and way_out.format(**facts))
        self.reason = reason
        self.code, self.exit_code = row.code, row.exit_code
