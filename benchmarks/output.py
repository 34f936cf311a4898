"""F6: much output through a recorded run."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import command, settle_disk, side_by_side

GOAL = 0.5
MEMORY_MB = 60
FILES = 200


def _measure(bench: Bench) -> Iterator[Row]:
    repository = bench.repository(FILES)
    env = bench.home("output")
    bench.run([bench.siding, "task", "start", "much output"], cwd=repository, env=env)
    lines, copy = bench.directory / "lines.txt", bench.directory / "copy.txt"
    for megabytes in bench.sizes(10, 100, 1_000, quick=2):
        _write_lines(lines, megabytes)

        def clean() -> None:
            copy.unlink(missing_ok=True)
            for old in Path(env["SIDING_HOME"]).glob("projects/*/tasks/*/artifacts/*"):
                old.write_bytes(b"")  # the names count steps
            settle_disk()

        ours = command(
            [bench.siding, "run", "--", "cat", lines], env=env, cwd=repository, before=clean
        )
        script = f"cat {lines} | tee {copy} > /dev/null"
        tee = command(["sh", "-c", script], env=env, cwd=repository, before=clean)
        script = f"{script} && sync {copy}"
        kept = command(["sh", "-c", script], env=env, cwd=repository, before=clean)
        rounds = bench.rounds({10: 11, 100: 7}.get(megabytes, 5))
        recorded, peer, flushed = side_by_side([ours, tee, kept], rounds=rounds)
        clean()
        note = f"{recorded.rss_mb:.0f} MB of memory at most (goal: under {MEMORY_MB})"
        case = f"{megabytes:,} MB of lines"
        goal = GOAL if megabytes == 1_000 else None  # below it the start of a process shows
        for series, text, timing, told in (
            ("output", "", peer, note),
            ("flushed", ", the file flushed", flushed, ""),
        ):
            yield Row(
                series,
                case + text,
                megabytes,
                recorded,
                timing,
                f"cat | tee{text}",
                goal=None if text else goal,
                bounds=Goal.THROUGHPUT,
                note=told,
            )
    lines.unlink()


def _write_lines(path: Path, megabytes: int) -> None:
    line = b"".join(b"%07d the quick brown fox jumps over the lazy dog\n" % n for n in range(1000))
    block = (line * (1_000_000 // len(line) + 1))[:1_000_000]
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(block)


FIGURE = Figure(
    title="output through run",
    goal=f"at least half the throughput of tee to a file, under {MEMORY_MB} MB of memory",
    floor="sh -c 'cat LINES | tee FILE > /dev/null'",
    follows="the bytes; memory follows nothing. Ours is hashed and flushed, tee's is not",
    measure=_measure,
)
