"""Ask git about many commits at once, on a bench. Each function starts one git process."""

from collections.abc import Iterable, Sequence

from siding.ground.ids import Sha
from siding.record.moving.bench import Bench


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


def links_made(bench: Bench, commits: Iterable[str]) -> dict[bytes, set[str]]:
    """Return the links to commits of other repositories that these commits make or move: for each
    path the commits that do."""
    arguments = ["diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-renames"]
    output = bench.git.run(
        bench.place(),
        [*arguments, "--no-abbrev"],
        doing="looking for links to other repositories",
        stdin="".join(f"{commit}\n" for commit in commits).encode("ascii"),
    )
    found: dict[bytes, set[str]] = {}
    if b" 160000 " not in output:
        return found
    fields = iter(output.split(b"\0"))
    commit = ""
    for field in fields:
        if not field.startswith(b":"):
            commit = field.decode("ascii")
        else:
            path = next(fields)
            if field.split(b" ", 2)[1] == b"160000":
                found.setdefault(path, set()).add(commit)
    return found
