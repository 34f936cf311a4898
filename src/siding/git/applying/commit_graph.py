"""Ask git about many commits at once, on a bench. Each function starts one git process."""

from collections.abc import Iterable, Sequence

from siding.git.applying.bench import Bench
from siding.ids import Sha


def commits_since(bench: Bench, tip: Sha, without: Sequence[Sha]) -> list[Sha]:
    """Return the commits in the history of `tip` but not of `without`, oldest first."""
    output = bench.git.run(
        bench.place(),
        ["rev-list", "--topo-order", "--reverse", tip, "--not", *without],
        doing="listing the commits of the task",
    )
    return [Sha(line) for line in output.decode("ascii").split()]


def parents_of(bench: Bench, tips: Iterable[str], *, without: Sha) -> dict[str, tuple[str, ...]]:
    """Return the commits in the history of `tips` but not of `without`, each with its parents.

    Children come before their parents.
    """
    output = bench.git.run(
        bench.place(),
        ["rev-list", "--topo-order", "--parents", *dict.fromkeys(tips), "--not", without],
        doing="listing the commits of the task",
    )
    lines = (line.split() for line in output.decode("ascii").splitlines())
    return {commit: tuple(parents) for commit, *parents in lines}


def paths_touched(bench: Bench, commits: Iterable[str]) -> set[bytes]:
    """Return the paths that differ between these commits and any of their parents."""
    output = bench.git.run(
        bench.place(),
        [
            "diff-tree",
            "--stdin",
            "-r",
            "-m",
            "--root",
            "--no-commit-id",
            "--name-only",
            "-z",
            "--no-renames",
        ],
        doing="looking at what was gone back from",
        stdin="".join(f"{commit}\n" for commit in commits).encode("ascii"),
    )
    return set(output.split(b"\0")[:-1])
