"""Numbers, names and phases of a run as they are shown. Pure."""

from collections.abc import Iterable, Sequence

from siding.ground.namedtuples import NamedTuple

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
