"""For each promise a planted mistake that its gate must catch (P3 and P7 have theirs beside them).

A gate that lets its mistake pass proves nothing, whatever else it is green about.
"""

from pathlib import Path

import pytest

from . import test_commands_damage as damage
from . import test_commands_time as clocks
from .acts import ACTS
from .arena import GateFailed
from .commands import GATE
from .harness import sweep
from .product import siding

pytestmark = GATE

STORE = ("home/projects",)  # where Siding itself writes; git's own files are git's
UPDATE = ACTS["task update"]  # makes some twenty calls there: each of them is tried
ALL = 40


def test_p4_a_failed_write_or_flush_that_counts_as_done() -> None:
    victim = UPDATE.command("swallow-errors")
    with pytest.raises(GateFailed):
        sweep(UPDATE.setup, victim, UPDATE.check, modes=("err:EIO",), budget=ALL, within=STORE)


def test_p5_a_short_write_that_is_not_continued() -> None:
    victim = UPDATE.command("ignore-short-write")
    with pytest.raises(GateFailed):
        sweep(UPDATE.setup, victim, UPDATE.check, modes=("short",), budget=4, within=STORE)


def test_p6_a_full_disk_that_takes_the_old_file_with_it() -> None:
    victim = UPDATE.command("truncate-rewrite")
    with pytest.raises(GateFailed):
        sweep(UPDATE.setup, victim, UPDATE.check, modes=("full",), budget=ALL, within=STORE)


def test_p18_steps_in_the_order_of_their_clocks(tmp_path: Path) -> None:
    clocks.recorded_under_a_jumping_clock(tmp_path)
    with pytest.raises(AssertionError):
        clocks.order_holds(tmp_path, fault="order-by-time")


@pytest.mark.parametrize("name", ["alpha/task.json", "project/worktrees.json"])
def test_p19_a_document_of_a_later_version_that_is_taken_for_ours(
    tmp_path: Path, name: str
) -> None:
    damage.everywhere(tmp_path)
    with pytest.raises(AssertionError):
        damage.newer_is_refused(tmp_path, name, fault="read-newer")


def test_p20_an_interrupt_that_is_an_error_like_any_other() -> None:
    """Aimed at the first half of a closing, which is Python's: in a run the command has Ctrl-C."""
    it = ACTS["task close"]
    victim = siding(*it.words, fault="loud-interrupt")
    with pytest.raises(GateFailed):
        sweep(
            it.setup,
            victim,
            lambda case, _promises: it.check(case, []),
            modes=("sigint",),
            budget=10,
            within=STORE,
        )
