"""What redaction adds to a run that prints much: the same run with it and without."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, settle_disk, side_by_side
from benchmarks.redaction_kinds import log_lines, written

GOAL = 2.0
FILES = 200


def _measure(bench: Bench) -> Iterator[Row]:
    repository = bench.repository(FILES)
    homes = []
    for name, switch in (("with", "true"), ("without", "false")):
        env = bench.home(f"redaction-{name}")
        home = Path(env["SIDING_HOME"])
        home.mkdir()
        (home / "config.yaml").write_text(f"redaction:\n  enabled: {switch}\n", encoding="utf-8")
        bench.run([bench.siding, "task", "start", "much output"], cwd=repository, env=env)
        homes.append(env)
    lines = bench.directory / "log.txt"

    def clean() -> None:
        for env in homes:
            for old in Path(env["SIDING_HOME"]).glob("projects/*/tasks/*/artifacts/*"):
                old.write_bytes(b"")  # the names count steps
        settle_disk()

    for megabytes in bench.sizes(10, 30, 100, quick=3):
        written(lines, log_lines(), megabytes)
        ours, floor = side_by_side(
            [
                command(
                    [bench.siding, "run", "--", "cat", lines], env=env, cwd=repository, before=clean
                )
                for env in homes
            ],
            rounds=bench.rounds(7, quick=3),
        )
        yield Row(
            "log",
            f"{megabytes} MB of log lines",
            megabytes,
            ours,
            floor,
            "the same run, redaction off",
            GOAL if megabytes == 100 else None,  # below it the start of a process shows
            note=f"{ours.rss_mb:.0f} MB of memory",
        )
    lines.unlink()


FIGURE = Figure(
    title="much output, redacted",
    goal=f"100 MB of ordinary log take at most {GOAL:g} times as long as with redaction off",
    floor="siding run -- cat LINES with redaction.enabled: false",
    follows="the bytes",
    measure=_measure,
)
