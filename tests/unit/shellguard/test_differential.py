"""What destroys or reads out a canary in a real shell was not allowed by the policy."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import counted
from bwrap import needs_bwrap

from . import families
from .differential import BATCH, Tried, make_canary, tried

# By links that are on the disk before the line runs.
LINKS = (
    "rm -rf out/",
    "rm -rf out/*",
    "rm out/a.txt",
    "echo x > out/a.txt",
    "echo x > file",
    "echo x | tee file",
    "cp own.txt out/a.txt",
    "cp own.txt file",
    "mv own.txt out/a.txt",
    "sed -i d out/a.txt",
    "cd out && rm -rf *",
    "find out/ -delete",
    "find -L . -name '*.txt' -delete",
    "rm -rf deep/up/home",
    "rm -rf deep/up/home/docs/*",
    "cat deep/up/home/.ssh/id_rsa",
    "tar -xf own.tar -C out && mv out/own.txt out/a.txt",
    "truncate -s 0 file",
    "git -C out clean -fdxq; rm out/b.txt",
    "rsync -a --delete empty/ out/",
)


def _lines(top: Path, count: int, seed: int) -> Iterator[str]:
    home = f"{top}/home"
    yield from families.destroying(f"{home}/docs", home, count, seed)
    secrets = [*families.spellings(f"{home}/.ssh/id_rsa", home)[:8], f"{home}/.netrc"]
    yield from families.reading(secrets, count // 2, seed)
    running = families.running(f"rm -rf {home}/docs")
    yield from running if count > BATCH else islice(running, 0, None, 4)
    yield from LINKS


def _harmed(top: Path, count: int, seed: int) -> tuple[list[Tried], list[str]]:
    top.mkdir()
    make_canary(top)
    lines = list(dict.fromkeys(_lines(top, count, seed)))
    done = list(tried(lines, top))
    counted.add(len(done))
    harmed = [each for each in done if each.harmed]
    return harmed, [each.line for each in harmed if each.action.value in ("allow", "log", "warn")]


_RUNS = [pytest.param(BATCH // 2, 11, id="few")]
_RUNS += [pytest.param(12 * BATCH, seed, id=f"hundreds-{seed}") for seed in range(4)]


@needs_bwrap
@pytest.mark.parametrize(("count", "seed"), _RUNS)
def test_what_harms_the_canary_was_not_allowed(tmp_path: Path, count: int, seed: int) -> None:
    harmed, allowed = _harmed(tmp_path / "c", count, seed)
    assert allowed == []
    assert len(harmed) > count // 2, "a canary that nothing harms shows nothing"
