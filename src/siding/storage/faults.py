"""Planted faults: the tests' proof that their gates catch a broken store.

Nothing here is ever on outside tests: the composition root passes the names in once (from
``$SIDING_TEST_FAULTS``), before any file is touched. Each name is one classic mistake.
"""

from collections.abc import Iterable

KNOWN = frozenset(
    {
        "skip-fsync",  # no flush of any file: a power cut loses what was promised
        "skip-directory-fsync",  # files are flushed, names are not
        "truncate-rewrite",  # documents are rewritten in place: a kill leaves half of one
        "skip-newline",  # a torn last line is not closed: it swallows the next record
        "skip-lock",  # locks are not taken: writers run into each other
        "skip-intent",  # what begins is not written down first: nobody can finish or undo it
        "swallow-errors",  # a write or a flush that failed counts as done
        "ignore-short-write",  # what the kernel took is all there was to write
        "order-by-time",  # steps are put into the order of their clocks
        "read-newer",  # a document of a later version is taken for one of ours
        "loud-interrupt",  # Ctrl-C is an error like any other
        "decision-last-answer-wins",  # a second answer replaces the first
        "decision-question-first",  # the question is removed before its record is there
        "forget-quarantine",  # that commits wait to be taken over is forgotten before they are
        "forget-verdict",  # what the policy said is written down only at the end
        "phase-state-first",  # a phase is moved before its commit is made
    }
)

_enabled: frozenset[str] = frozenset()


def enable(names: Iterable[str]) -> None:
    """Switch on exactly these faults; an unknown name is a gate that would test nothing."""
    global _enabled
    chosen = frozenset(names)
    if unknown := sorted(chosen - KNOWN):
        raise ValueError(f"unknown faults {unknown!r}; known are {sorted(KNOWN)!r}")
    _enabled = chosen
    if "loud-interrupt" in chosen:
        import signal

        signal.signal(signal.SIGINT, _fall_over)


def is_enabled(name: str) -> bool:
    """Return whether the fault is planted."""
    return name in _enabled


def _fall_over(_number: int, _frame: object) -> None:
    raise RuntimeError("interrupted")
