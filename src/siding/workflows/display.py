"""A run as it is shown: numbers, names and phases, its few figures in lists and in the inbox."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.workflows.state import RunState, RunStatus

if TYPE_CHECKING:
    from siding.asking.views import InboxEntry, Waits

PENDING, RUNNING, DONE = "pending", "running", "done"


class PhaseRow(NamedTuple):
    """A phase as it is shown: pending, running or done, with how many of its agents are done."""

    title: str
    status: str
    done: int
    total: int


def format_token_count(count: int | None) -> str:
    """Return ``42``, ``22.9k``, ``1.2M``; "0" for none."""
    if not count:
        return "0"
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def format_duration(milliseconds: int) -> str:
    """Return ``59s``, ``1m00s`` or ``2h03m``."""
    seconds = max(0, milliseconds) // 1000
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    return f"{seconds // 3600}h{seconds % 3600 // 60:02d}m"


def format_dollars(dollars: float) -> str:
    """Return an amount of dollars; small ones with more digits."""
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def merge_phases(
    declared: Sequence[str],
    phases: Iterable[tuple[str, str]],
    agents: Iterable[tuple[str, str]],
) -> list[PhaseRow]:
    """Return the phases of a run: as declared, then as opened, then those only agents name.

    `phases` and `agents` are pairs of a phase's title and a status. A phase that was closed is
    done; else its agents say what it is, and without any it runs if it was opened.
    """
    opened = dict(phases)
    counts: dict[str, list[int]] = {}
    for title, status in agents:
        count = counts.setdefault(title, [0, 0])
        count[0] += status == DONE
        count[1] += 1
    rows = []
    for title in dict.fromkeys([*declared, *opened, *counts]):
        done, total = counts.get(title, (0, 0))
        status = opened.get(title, PENDING)
        if status != DONE and total:
            status = DONE if done == total else RUNNING
        if title:
            rows.append(PhaseRow(title=title, status=status, done=done, total=total))
    return rows


def truncate_label(label: str, width: int) -> str:
    """Cut a label to a width; one that ends with ``#number`` keeps that."""
    if len(label) <= width:
        return label
    name, mark, number = label.rpartition("#")
    if mark and number.isdigit() and len(number) + 2 < width:
        return f"{name[: width - len(number) - 2]}…#{number}"
    return label[:width]


def tab_label(name: str, run_id: str) -> str:
    """Return a run's name and the last four letters of its id."""
    return f"{name}#{run_id[-4:]}"


def clamp_selected(index: int, count: int) -> int:
    """Return an index within a list; 0 if it is empty."""
    return max(0, min(index, count - 1))


class RunSummary(NamedTuple):
    """One run. Times are in milliseconds since 1970, 0 if unknown."""

    run_id: str
    name: str
    status: RunStatus
    task: str
    description: str = ""
    phase: str = ""  # the one that is open
    done: int = 0
    total: int = 0
    dead: int = 0
    tokens: int = 0
    dollars: float | None = None
    error: str = ""
    waits: tuple[str, ...] = ()
    started_at: int = 0
    updated_at: int = 0
    can_resume: bool = False  # as it is, and it can come to another end

    @property
    def is_live(self) -> bool:
        """Whether a process works on the run."""
        return self.status is RunStatus.RUNNING

    @property
    def has_failed(self) -> bool:
        """Whether the script failed."""
        return self.status is RunStatus.FAILED

    @property
    def took_ms(self) -> int:
        """How long it has taken so far."""
        return max(0, self.updated_at - self.started_at) if self.started_at else 0

    @property
    def progress(self) -> str:
        """How far it is: ``3/12 agents``, and the phase that is open."""
        agents = f"{self.done}/{counted(self.total, 'agent')}"
        return f"{agents} · {self.phase}" if self.phase else agents


def summary_of(state: RunState) -> RunSummary:
    """Return the figures of a run."""
    return RunSummary(
        run_id=state.run_id,
        name=state.name,
        status=state.status,
        task=state.task,
        description=state.description,
        phase=state.current,
        done=state.counted("done"),
        total=len(state.agents),
        dead=sum(agent.result == "dead" for agent in state.agents),
        tokens=state.tokens,
        dollars=state.dollars,
        error=state.error,
        waits=state.waits,
        started_at=state.started_at,
        updated_at=state.updated_at,
        can_resume=state.can_resume,
    )


def workflow_entry(
    project: Project, task_name: str, run: RunSummary, kind: "Waits | None" = None
) -> "InboxEntry":
    """Return the entry of a run of a workflow: one that stopped, or one that is told to be done."""
    from siding.asking.views import Waits, entry, moment_iso

    go_on = "resume" if run.can_resume else "show"
    return entry(
        project,
        kind=kind or Waits.WORKFLOW,
        title=f"{run.name} {run.status}: {run.error or run.progress}",
        detail=run.progress,
        since=moment_iso(run.updated_at),
        command=f"siding workflow {go_on} {run.run_id}",
        page=f"/workflows/{run.run_id}",
        task_id=run.task,
        task_name=task_name,
    )
