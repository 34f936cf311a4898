"""What the house is to come to: a goal for each row, and a limit for what a command may cost."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tools.house.loaded import Loaded

SHOWN_BY_LOG = 100  # steps, which it reads beside the 200 that it looks at for damage


class Limit(NamedTuple):
    """The most that a command may cost; None for what has no limit."""

    modules: int  # of ours
    functions: int | None = None
    unused: float | None = None  # the share of functions that are never called
    others: int | None = None  # modules of others
    git: int = 0
    fsyncs: int = 0
    patterns: int | None = None


_HELP = Limit(60)
LIMITS: Mapping[str, Limit] = {
    "run -- true": Limit(150, 1_600, 0.35, 50, git=3, fsyncs=12, patterns=10),
    "status": Limit(80, 700, 0.35, 45, git=1, patterns=6),
    "log": Limit(60, 500, 0.35, 42, patterns=5),
    "diff --stat": Limit(85, 700, 0.35, 50, git=2),
    "task list": Limit(55, others=42),
    "undo": Limit(170, others=50, git=7, fsyncs=24),
    "rollback --step 1": Limit(170, others=50, git=7, fsyncs=24),
    "apply --no-close": Limit(180, others=55, git=13, fsyncs=26),
    "run --help": _HELP,
    "undo --help": _HELP,
    "undo --no-such-option": _HELP,
}
PARSED: Mapping[str, int] = {"status": 201, "log": 200 + SHOWN_BY_LOG}  # lines of a long ledger


def beyond(name: str, loaded: Loaded) -> Iterator[str]:
    """Yield what a command costs beyond its limit, a sentence each."""
    limit = LIMITS.get(name)
    if limit is None:
        return
    for what, found in figures(loaded).items():
        most = getattr(limit, what)
        if most is not None and found > most:
            yield f"`{name}`: {what} {shown(found)}, and at most {shown(most)} are allowed"


def figures(loaded: Loaded) -> dict[str, float]:
    """Return what has a limit, by the names in `Limit`."""
    return {
        "modules": loaded.modules,
        "functions": loaded.functions,
        "unused": loaded.unused,
        "others": loaded.others,
        "git": loaded.git,
        "fsyncs": loaded.fsyncs,
        "patterns": sum(loaded.patterns.values()),
    }


def shown(figure: float) -> str:
    """Return a count, or a share as per cent."""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.0%}"
