"""Redaction by kind of input: output as programs print it, and what is made to be slow."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row, times
from benchmarks.measure import command, side_by_side
from benchmarks.redaction_kinds import ordinary, worst, written

GOAL = 0.5
LEAST_MB_S = 100  # of ordinary logs
WORST_MB_S = 10  # of what is made to be slow
ROOT = Path(__file__).parents[1]
# What is usually done: one expression for each of a dozen formats.
_USUAL = (
    r"(AKIA|ASIA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"sk-[A-Za-z0-9_-]{20,}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"(sk|rk)_live_[A-Za-z0-9]{24}",
    r"npm_[A-Za-z0-9]{36}",
    r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",
    r"Bearer [A-Za-z0-9._~+/-]+=*",
    r"([Pp]assword|[Tt]oken|[Ss]ecret|[Aa]pi_?[Kk]ey)[\"']?[ ]*[:=][ ]*[\"']?[^ \"']{8,}",
)


def _measure(bench: Bench) -> Iterator[Row]:
    script = bench.directory / "sed.txt"
    script.write_text("".join(f"s@{each}@***@g\n" for each in _USUAL), encoding="utf-8")
    sed = ["sed", "-E", "-f", str(script)]
    slow = worst()
    for size in bench.sizes(10, 30, 100):
        for name, block in {**ordinary(), **slow}.items():
            megabytes = size // 10 if name in slow else size
            path = bench.directory / "redaction.txt"
            written(path, block, megabytes)
            worker: list[str | Path] = [bench.python, "-m", "benchmarks.redaction_worker", path]
            env = {**bench.env, "PYTHONPATH": str(ROOT)}
            ours = command(worker, env=env, cwd=ROOT)
            peer = command([*sed, path], env=bench.env, cwd=ROOT)
            floor = command([*worker, "scan"], env=env, cwd=ROOT)
            mine, theirs, least = side_by_side([ours, peer, floor], rounds=bench.rounds(3, quick=2))
            speed = times(megabytes, mine.cpu_ms) * 1000
            yield Row(
                name,
                f"{megabytes} MB of {name}",
                megabytes,
                mine,
                theirs,
                "sed -E, 12 rules",
                goal=GOAL,
                bounds=Goal.THROUGHPUT,
                note=f"{speed:,.1f} MB/s of processor time "
                f"(goals: logs {LEAST_MB_S}, worst {WORST_MB_S}), "
                f"{times(mine.cpu_ms, least.cpu_ms):.1f} times a search for line feeds, "
                f"{mine.rss_mb:.0f} MB of memory",
            )
            path.unlink()


FIGURE = Figure(
    title="redaction",
    goal=f"at least half as fast as a dozen expressions in sed; logs at least {LEAST_MB_S} MB/s, "
    f"what is made to be slow {WORST_MB_S}",
    floor="sed -E -f EXPRESSIONS FILE > /dev/null",
    follows="the bytes, and how often a word that could announce a secret is in them",
    measure=_measure,
)
