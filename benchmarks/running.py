"""F3 and F4: one recorded step."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import repositories
from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, command, settle_disk, side_by_side

STEP = 1.5
EDITS = 0.3
EDITED = 10  # files changed by the step of F4
SNAPSHOT = "git add -A && git write-tree"
SEED_BY_READING = (
    "rm -f $GIT_INDEX_FILE && git read-tree HEAD && git add -A && "
    "git update-ref refs/snapshot $(git commit-tree -m s $(git write-tree))"
)


class _Place(NamedTuple):
    """A workspace, and what git needs to take snapshots of it by itself, without Siding."""

    workspace: Path
    siding_env: dict[str, str]
    git_env: dict[str, str]


def _place(bench: Bench, files: int) -> _Place:
    repository = bench.repository(files)
    env = bench.home(f"running-{files}")
    bench.run([bench.siding, "task", "start", "measured"], cwd=repository, env=env)
    (workspace,) = (Path(env["SIDING_HOME"]) / "projects").glob("*/workspaces/*")
    own = bench.directory / f"private-{files}.git"
    bench.run(["git", "init", "-q", "--bare", own], cwd=bench.directory)
    alternates = own / "objects" / "info" / "alternates"
    alternates.write_text(f"{repository / '.git' / 'objects'}\n", encoding="utf-8")
    head = bench.run(["git", "rev-parse", "HEAD"], cwd=workspace)
    bench.run(["git", "-C", own, "update-ref", "refs/heads/base", head], cwd=bench.directory)
    bench.run(["git", "-C", own, "symbolic-ref", "HEAD", "refs/heads/base"], cwd=bench.directory)
    index = bench.run(["git", "rev-parse", "--git-path", "index"], cwd=workspace)
    shutil.copy2(index, own / "index")
    git = {"GIT_DIR": own, "GIT_WORK_TREE": workspace, "GIT_INDEX_FILE": own / "index"}
    git_env = {**bench.env, **{name: str(value) for name, value in git.items()}}
    return _Place(workspace=workspace, siding_env=env, git_env=git_env)


def _measure_step(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        place = _place(bench, files)
        ours = _siding(bench, place, "true")
        twice = _git(place, f"{SNAPSHOT} && {SNAPSHOT}")
        rounds = bench.rounds({1_000: 25, 20_000: 15}.get(files, 9), quick=7)
        recorded, floor = side_by_side([ours, twice], rounds=rounds, warm_ups=2)
        case = f"run -- true, {files:,} files"
        yield Row("run", case, files, recorded, floor, "two snapshots by git", STEP)
        _forget(bench, place)


def _measure_edits(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        place = _place(bench, files)
        edit = bench.directory / f"edit-{files}.sh"
        edit.write_text(_edits(files), encoding="utf-8")
        ours = _siding(bench, place, "sh", str(edit))
        private = place.git_env | {"GIT_INDEX_FILE": place.git_env["GIT_INDEX_FILE"] + "-read"}
        reading = _git(place._replace(git_env=private), f"sh {edit} && {SEED_BY_READING}")
        rounds = bench.rounds({1_000: 15, 20_000: 9}.get(files, 5), quick=5)
        recorded, floor = side_by_side([ours, reading], rounds=rounds)
        case = f"a step with {EDITED} edits, {files:,} files"
        yield Row("edits", case, files, recorded, floor, "read-tree HEAD, add -A", EDITS)
        _forget(bench, place)


def _edits(files: int) -> str:
    """Return a script that changes some files, differently at each run."""
    chosen = (repositories.name_of(number * files // EDITED) for number in range(EDITED))
    return "\n".join(f'echo "edit $$ $(date +%N)" >> {name}' for name in chosen) + "\n"


def _siding(bench: Bench, place: _Place, *words: str) -> Run:
    argv: list[str | Path] = [bench.siding, "run", "--", *words]
    return command(argv, env=place.siding_env, cwd=place.workspace, before=settle_disk)


def _git(place: _Place, script: str) -> Run:
    argv = ["sh", "-c", script]
    return command(argv, env=place.git_env, cwd=place.workspace, before=settle_disk)


def _forget(bench: Bench, place: _Place) -> None:
    """Give the disk back, and the repository its state: the next figure uses it too."""
    shutil.rmtree(place.siding_env["SIDING_HOME"])
    shutil.rmtree(place.git_env["GIT_DIR"])
    for repository in bench.directory.glob("repository-*"):
        bench.run(["git", "worktree", "prune"], cwd=repository)


FIGURE = Figure(
    title="run -- true, warm",
    goal="at most 1.5 times the git commands of its two snapshots",
    floor=f"{SNAPSHOT} && {SNAPSHOT}, in a git directory of its own with a seeded index",
    follows="the number of files, each looked at before and after; the rest is start-up",
    measure=_measure_step,
)
EDITS_FIGURE = Figure(
    title=f"run, with {EDITED} edits",
    goal="at most 0.3 times a snapshot as the engines inside agents take it",
    floor=f"the same edits, then: {SEED_BY_READING}",
    follows="as above; the floor reads every file again",
    measure=_measure_edits,
)
