"""Redaction of output that holds no secret, by what kind of output it is."""

import base64
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import command, side_by_side

GOAL = 0.5
LEAST_MB_S = 100  # of ordinary logs
ROOT = Path(__file__).parents[1]
# Nothing but words that announce a secret: the rules have to look at all of it.
_WORST = (b'password="', b"token: ", b"api_key: ", b"curl -u a:", b"eyJ-", b"aaaaaaaaaaaaaaaaaaaa.")
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
    for megabytes in bench.sizes(10, 30, 100):
        for name, block in _kinds().items():
            path = bench.directory / f"{name}.txt"
            with path.open("wb") as file:
                for _ in range(megabytes):
                    file.write((block * (1_000_000 // len(block) + 1))[:1_000_000])
            worker: list[str | Path] = [bench.python, "-m", "benchmarks.redaction_worker", path]
            env = {**bench.env, "PYTHONPATH": str(ROOT)}
            ours = command(worker, env=env, cwd=ROOT)
            peer = command([*sed, path], env=bench.env, cwd=ROOT)
            floor = command([*worker, "scan"], env=env, cwd=ROOT)
            mine, theirs, least = side_by_side([ours, peer, floor], rounds=bench.rounds(3, quick=2))
            speed = megabytes / mine.median_ms * 1000
            yield Row(
                name,
                f"{megabytes} MB of {name}",
                megabytes,
                mine,
                theirs,
                "sed -E, 12 rules",
                goal=GOAL,
                bounds=Goal.THROUGHPUT,
                note=f"{speed:,.0f} MB/s (goal for ordinary logs: {LEAST_MB_S}), "
                f"{mine.median_ms / least.median_ms:.1f} times a search for line feeds, "
                f"{mine.rss_mb:.0f} MB of memory",
            )
            path.unlink()


def _kinds() -> dict[str, bytes]:
    chance = random.Random(1)
    prose = (b"%07d the quick brown fox jumps over the lazy dog\n" % n for n in range(1000))
    log = (
        b"2026-11-21T18:25:%02d.%03dZ INFO  app.server[%d]: path=/api/v1/items/%d status=200 %dms\n"
        % (n % 60, n % 1000, n, n * 7919, n % 97)
        for n in range(5000)
    )
    lines = (
        json.dumps(
            {
                "type": "assistant",
                "uuid": f"5f2b1c3e-{n:04x}-4abc-8def-0123456789ab",
                "input_tokens": n,
                "output_tokens": 5,
                "text": "the key of the door",
            }
        )
        + "\n"
        for n in range(5000)
    )
    sums = (f"{hashlib.sha256(b'%d' % n).hexdigest()}  src/file{n}.py\n" for n in range(5000))
    build = (
        b"\x1b[1m\x1b[32m   Compiling\x1b[0m crate-%d v0.%d.1\n"
        b"\x1b[2K[%d/900] \x1b[36mCXX\x1b[0m a%d.o\n" % (n, n, n, n)
        for n in range(3000)
    )
    source = b"".join(path.read_bytes() for path in sorted((ROOT / "src/siding/git").glob("*.py")))
    return {
        "prose": b"".join(prose),
        "log lines": b"".join(log),
        "JSON lines": "".join(lines).encode(),
        "checksums": "".join(sums).encode(),
        "Base64": b"".join(base64.b64encode(chance.randbytes(57)) + b"\n" for _ in range(5000)),
        "source": source,
        "coloured build output": b"".join(build),
        "binary": chance.randbytes(1_000_000),
        **{f"worst: {unit.decode()!r}": unit * (1_000_000 // len(unit)) for unit in _WORST},
    }


FIGURE = Figure(
    title="redaction",
    goal=f"at least half as fast as a dozen expressions in sed, and at least {LEAST_MB_S} MB/s",
    floor="sed -E -f EXPRESSIONS FILE > /dev/null",
    follows="the bytes, and how often a word that could announce a secret is in them",
    measure=_measure,
)
