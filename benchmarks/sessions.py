"""F8: opening a session, adding to it, searching all of them."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, Sample, Timing, command, side_by_side
from benchmarks.sessions_data import SESSION, make, make_home

RESUME = 0.01  # of reading every line, where there is a compaction
APPEND = 1.5
BATCH = 50
DEAD = 0.3
COMPACTIONS = (0, 1, 20)
NEEDLE = "consectetur adipiscing"
WORKER = Path(__file__).with_name("sessions_worker.py")


def _measure(bench: Bench) -> Iterator[Row]:
    yield from _listing(bench)
    directory = bench.scratch("sessions")
    path = directory / f"{SESSION}.jsonl"
    for megabytes in bench.sizes(10, 200, 1000):
        for compactions in COMPACTIONS:
            bench.say(f"making a transcript of {megabytes:,} MB, {compactions} compactions")
            make(path, megabytes=megabytes, compactions=compactions, dead=DEAD)
            yield _opening(bench, path, megabytes, compactions)
            path.unlink()
        make(path, megabytes=megabytes, compactions=0, dead=0.0)
        yield from _linear(bench, path, megabytes)
        yield _appending(bench, path, megabytes)
        yield from _searching(bench, path, megabytes)
        for left in directory.iterdir():
            left.unlink()


def _listing(bench: Bench) -> Iterator[Row]:
    """Sessions in the homes of agents, by the whole command; with its cache and without."""
    for count in bench.sizes(50, 500, 5000):
        bench.say(f"making a home of {count:,} transcripts")
        home = bench.scratch("agents")
        repository = home / "repository"
        repository.mkdir()
        bench.run(["git", "init", "-q", repository], cwd=home)
        make_home(home, count=count, cwd=str(repository))
        env = {**bench.env, "HOME": str(home), "SIDING_HOME": str(home / "siding")}
        caches = home / "siding" / "cache"
        listing: list[str | Path] = [bench.siding, "session", "list"]
        floor = command([bench.python, "-c", "pass"], env=env, cwd=repository)
        warm = command(listing, env=env, cwd=repository)
        cold = command(
            listing, env=env, cwd=repository, before=partial(shutil.rmtree, caches, True)
        )
        rounds = bench.rounds(15, quick=5)
        for name, run in (("found", warm), ("found, first", cold)):
            ours, bare = side_by_side([run, floor], rounds=rounds, warm_ups=2)
            case = f"session list of {count:,} found transcripts, {name}"
            yield Row(name, case, count, ours, bare, "python3 -c pass", None, note=_memory(ours))
        shutil.rmtree(home)


def _opening(bench: Bench, path: Path, megabytes: int, compactions: int) -> Row:
    ours, floor = side_by_side(
        [_act(bench, "live", path), _act(bench, "lines", path)], rounds=bench.rounds(3)
    )
    case = f"live chain of {megabytes:,} MB, {compactions} compactions, {DEAD:.0%} dead branches"
    goal = RESUME if compactions == 20 and megabytes == 1000 else None
    return Row(
        f"open, {compactions}",
        case,
        megabytes,
        ours,
        floor,
        "json.loads of every line",
        goal,
        note=_memory(ours),
    )


def _linear(bench: Bench, path: Path, megabytes: int) -> Iterator[Row]:
    rounds = bench.rounds(3, quick=1)
    ours, floor = side_by_side(
        [_act(bench, "live", path), _act(bench, "whole", path)], rounds=rounds, warm_ups=0
    )
    case = f"live chain of {megabytes:,} MB, all of it alive"
    yield Row(
        "open, linear",
        case,
        megabytes,
        ours,
        floor,
        "whole-file parse",
        None,
        note=f"{_memory(ours)}; the parse {_memory(floor)}",
    )
    ours, floor = side_by_side(
        [_act(bench, "read", path), _act(bench, "whole", path)], rounds=rounds, warm_ups=0
    )
    case = f"every record of it, {megabytes:,} MB"
    yield Row(
        "read, linear", case, megabytes, ours, floor, "whole-file parse", None, note=_memory(ours)
    )


def _appending(bench: Bench, path: Path, megabytes: int) -> Row:
    ours, floor = side_by_side(
        [_told(bench, "append", path), _told(bench, "plain", path.with_suffix(".plain"))],
        rounds=bench.rounds(9, quick=3),
    )
    case = f"{BATCH} prompts stored, at {megabytes:,} MB"
    return Row("append", case, megabytes, ours, floor, "write + fsync", APPEND)


def _searching(bench: Bench, path: Path, megabytes: int) -> Iterator[Row]:
    # Into a pipe: with /dev/null behind it grep stops at the first line it finds.
    piped: list[str | Path] = ["sh", "-c", 'grep -c -F "$1" "$2" | cat', "sh", NEEDLE, path]
    scan = command(piped, env=bench.env, cwd=path.parent)
    built, floor = side_by_side(
        [_act(bench, "index", path.parent, before=_Forget(path.parent)), scan],
        rounds=1,
        warm_ups=0,
    )
    case = f"full-text index of {megabytes:,} MB, from nothing"
    yield Row("index", case, megabytes, built, floor, "grep -c -F", None, note=_memory(built))
    ours, floor = side_by_side(
        [_act(bench, "search", path.parent, f'"{NEEDLE}"'), scan], rounds=bench.rounds(5)
    )
    case = f"search over {megabytes:,} MB, index up to date"
    yield Row("search", case, megabytes, ours, floor, "grep -c -F", None, note=_memory(ours))


class _Forget:
    """Takes a search index away, so that it is made from nothing."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self) -> None:
        for left in self.directory.glob("search.sqlite3*"):
            left.unlink()


def _act(
    bench: Bench, what: str, path: Path, argument: str = "", before: _Forget | None = None
) -> Run:
    argv: list[str | Path] = [bench.python, WORKER, what, path, argument]
    return command(argv, env=bench.env, cwd=bench.directory, before=before)


def _told(bench: Bench, what: str, path: Path) -> Run:
    """Return a contender that tells how long the appends alone took."""

    def run() -> Sample:
        argv: list[str | Path] = [bench.python, WORKER, what, path, str(BATCH)]
        told = json.loads(bench.run(argv, cwd=bench.directory))
        return Sample(wall_ms=told["wall_ms"], cpu_ms=told["cpu_ms"])

    return run


def _memory(timing: Timing) -> str:
    return f"{timing.median_ms:,.0f} ms, {timing.rss_mb:.0f} MB"


FIGURE = Figure(
    title="sessions: open, append, search",
    goal="1 GB with 10 MB alive at most 0.01 of reading every line; appends at most 1.5 times one "
    "write and one fsync; a linear 200 MB in 1.5 s and 150 MB",
    floor="json.loads of every line; a loader that keeps every record; os.write + os.fsync; grep",
    follows="opening: the bytes since the newest compaction; appending: nothing",
    measure=_measure,
)
