"""Going back over a change of ten files, against git doing the same by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, command, settle_disk, side_by_side
from benchmarks.running import EDITED, SNAPSHOT, _edits, _forget, _Place, _place

GOAL = 1.5
RECORD = "git update-ref refs/snapshot $(git commit-tree -m s $(git write-tree))"
# Record the workspace, see what differs, write it back, record it again; flushed as ours is.
FLUSHED = 'git() { command git -c core.fsync=all -c core.fsyncMethod=fsync "$@"; }'
BACK = (
    f"{FLUSHED}; {SNAPSHOT} && git diff --raw HEAD && git read-tree -u --reset HEAD && "
    f"git add -A && {RECORD}"
)


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        place = _place(bench, files)
        edit = bench.directory / f"back-{files}.sh"
        edit.write_text(_edits(files), encoding="utf-8")
        bench.run([bench.siding, "run", "--", "true"], cwd=place.workspace, env=place.siding_env)
        ours = _timed(bench, place, _recorded_by_siding(bench, place, edit))
        floor = command(
            ["sh", "-c", BACK],
            env=place.git_env,
            cwd=place.workspace,
            before=_recorded_by_git(bench, place, edit),
        )
        rounds = bench.rounds({1_000: 15, 20_000: 9}.get(files, 5), quick=5)
        back, by_hand = side_by_side([ours, floor], rounds=rounds, warm_ups=1)
        case = f"rollback of {EDITED} files, {files:,} files"
        yield Row("rollback", case, files, back, by_hand, "add, read-tree -u, add", GOAL)
        _forget(bench, place)


def _timed(bench: Bench, place: _Place, before: Callable[[], object]) -> Run:
    argv: list[str | Path] = [bench.siding, "rollback", "--step", "1"]
    return command(argv, env=place.siding_env, cwd=place.workspace, before=before)


def _recorded_by_siding(bench: Bench, place: _Place, edit: Path) -> Callable[[], object]:
    def before() -> None:
        argv: list[str | Path] = [bench.siding, "run", "--", "sh", str(edit)]
        bench.run(argv, cwd=place.workspace, env=place.siding_env)
        settle_disk()

    return before


def _recorded_by_git(bench: Bench, place: _Place, edit: Path) -> Callable[[], object]:
    def before() -> None:
        script = f"sh {edit} && {SNAPSHOT}"
        bench.run(["sh", "-c", script], cwd=place.workspace, env=place.git_env)
        settle_disk()

    return before


FIGURE = Figure(
    title=f"rollback of {EDITED} files",
    goal="at most 1.5 times the git commands of the same effect, flushed as ours are",
    floor=BACK,
    follows="the number of files, each looked at before and after; the change itself is small",
    measure=_measure,
)
