"""What a sandbox around a run costs: sandboxed against not, and bubblewrap by itself."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, command, settle_disk, side_by_side

GOAL = 1.3
FILES = 1_000
BARE = (
    "--unshare-all",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--die-with-parent",
)


def _measure(bench: Bench) -> Iterator[Row]:
    repository = bench.repository(FILES)
    env = bench.home("sandbox")
    bench.run([bench.siding, "task", "start", "walled"], cwd=repository, env=env)
    (workspace,) = (Path(env["SIDING_HOME"]) / "projects").glob("*/workspaces/*")

    def ours(*flags: str) -> Run:
        argv: list[str | Path] = [bench.siding, "run", *flags, "--", "true"]
        return command(argv, env=env, cwd=workspace, before=settle_disk)

    rounds = bench.rounds(30, quick=10)
    plain, walled, off, limited = side_by_side(
        [
            ours(),
            ours("--sandbox"),
            ours("--sandbox", "--network", "off"),
            ours("--max-memory", "1GiB", "--max-processes", "100", "--max-output", "1GiB"),
        ],
        rounds=rounds,
        warm_ups=2,
    )
    floor = "the same run without"
    yield Row(
        "sandbox", f"run --sandbox -- true, {FILES:,} files", FILES, walled, plain, floor, GOAL
    )
    yield Row("off", "the same, --network off", FILES, off, plain, floor)
    yield Row("limits", "run with limits, no sandbox", FILES, limited, plain, floor)
    bwrap = shutil.which("bwrap")
    if bwrap is not None:
        alone, nothing = side_by_side(
            [
                command([bwrap, *BARE, "--", "true"], env=env, cwd=workspace),
                command(["true"], env=env, cwd=workspace),
            ],
            rounds=rounds,
        )
        yield Row("bwrap", "bwrap -- true, for comparison", FILES, alone, nothing, "true")


FIGURE = Figure(
    title="run --sandbox -- true",
    goal="at most 1.3 times the same run without",
    floor="siding run -- true, in the same workspace",
    follows="nothing: mounts of a view, and bubblewrap's own start; loose branches are copied",
    measure=_measure,
)
