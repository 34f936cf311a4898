"""Try what the tests of a module would notice: change it in one place, run them, see one fail.

    .venv/bin/python -m tools.mutate                      every module of `mutate.toml`
    .venv/bin/python -m tools.mutate storage/locks.py     this one; several may be named
    .venv/bin/python -m tools.mutate --lines 40-80 MODULE changes that begin on these lines
    .venv/bin/python -m tools.mutate --one-in 3 MODULE    a third of the changes, always the same
    .venv/bin/python -m tools.mutate --again LOG MODULE   those that a run survived, by its output
    .venv/bin/python -m tools.mutate --list MODULE        the changes, without running anything

A developer's tool: run it after work on such a module, and read what survived. Each survivor is a
missing test, code that nobody needs, or a change that makes no difference. The last kind goes into
`mutants-equivalent.txt` with its reason, in the form in which it is printed here, and is not tried
again. The run is reproducible: Hypothesis draws the same examples every time.

Nothing in the checkout is changed. The package is copied, the copy comes first on the path, and the
one changed file is written there; a test that starts another Python sees it too. The tests that
found the latest changes come first, then the fastest, and the first failure ends a run. One that
takes far longer than the unchanged module's is stopped and counts as noticed (`trial.py`).

Some modules have `later` tests besides, of whole acts. A change that the tests of its module do not
notice is shown to those of them that call the function; `tests` of its own stay the aim.

What is changed is in `mutations.py`. Texts are not: no test should repeat each message.
"""

import argparse
import compileall
import os
import shutil
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from tools.mutations import Mutation, mutations_of
from tools.trial import CHECKOUT, FAILED, STOPPED, SURVIVED, Trial

TOOLS = Path(__file__).resolve().parent
EQUIVALENT = TOOLS / "mutants-equivalent.txt"


@contextmanager
def scratch_copy() -> Iterator[Path]:
    """A directory with a copy of the package, compiled but for what is going to be changed."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        shutil.copytree(CHECKOUT / "src", Path(name, "src"))
        compileall.compile_dir(Path(name, "src"), quiet=1)
        yield Path(name)


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the changes that make no difference: place, line and change; and the reason."""
    found: dict[tuple[str, str, str], str] = {}
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    for block in filter(None, (each.strip() for each in text.split("\n\n"))):
        module, line, change, *reason = (each.strip() for each in block.splitlines())
        assert reason, f"{EQUIVALENT.name}: no reason for {change!r} in {module}"
        found[module, line, change] = " ".join(reason)
    return found


class Chosen(NamedTuple):
    """Which changes of a module are tried."""

    lines: range
    one_in: int  # a sample, by a sum of what is changed: no other place in the file alters it
    again: frozenset[tuple[str, ...]] | None = None  # none but these: place, line and change
    only_later: bool = False

    def has(self, mutation: Mutation, key: tuple[str, ...]) -> bool:
        if self.again is not None and key not in self.again:
            return False
        told = f"{mutation.function} {mutation.line_text} {mutation.change}"
        return mutation.line in self.lines and crc32(told.encode()) % self.one_in == 0


def survivors(log: str) -> frozenset[tuple[str, ...]]:
    """Return the changes in the output of a run: place, line and change."""
    lines = [line.strip() for line in log.splitlines()]
    return frozenset(
        tuple(lines[at + 1 : at + 4]) for at, line in enumerate(lines) if line.startswith("# line ")
    )


class Tests(NamedTuple):
    """The tests of a module, and those that are asked `later`."""

    first: Sequence[str]
    later: Sequence[str] = ()


def try_module(scratch: Path, module: str, tests: Tests, chosen: Chosen) -> str:
    """Try every change of a module; print what survives; return its row of the table."""
    trial = Trial(scratch, module, tests.first)
    later = Trial(scratch, module, tests.later, by_function=True) if tests.later else None
    for cached in trial.path.parent.glob(f"__pycache__/{trial.path.stem}.*"):
        cached.unlink()
    for each in (None if chosen.only_later else trial, later):
        if each is not None and each.unchanged().outcome != SURVIVED:
            print((scratch / "out").read_text(errors="replace")[-3000:])
            return f"{module:34} the tests fail without any change"
    known, counts, began = equivalents(), Counter[str](), time.monotonic()
    met: set[tuple[str, str, str]] = set()
    for mutation in mutations_of(trial.source):
        key = (f"{module} {mutation.function}".strip(), mutation.line_text, mutation.change)
        met.add(key)
        if not chosen.has(mutation, key):
            continue
        if key in known:
            counts["equivalent"] += 1
            continue
        outcome = SURVIVED if chosen.only_later else trial.verdict(mutation).outcome
        if outcome == SURVIVED and later is not None:
            outcome = later.verdict(mutation).outcome
            counts["later"] += outcome != SURVIVED
        counts[outcome] += 1
        if outcome == SURVIVED:
            print(f"# line {mutation.line}", *key, "", sep="\n", flush=True)
    for stale in sorted(key for key in known if key[0].split()[0] == module and key not in met):
        print(f"no such change any more in {EQUIVALENT.name}:", *stale, sep="\n  ")
    return _row(module, counts, time.monotonic() - began)


def _row(module: str, counts: Counter[str], took_s: float) -> str:
    noticed = counts[FAILED] + counts[STOPPED]
    tried = noticed + counts[SURVIVED]
    share = 100 * noticed / tried if tried else 100
    columns = (
        *(tried, counts[FAILED], counts[STOPPED], counts["later"]),
        *(counts[SURVIVED], counts["equivalent"]),
    )
    return (
        f"{module:34}" + "".join(f"{each:>9}" for each in columns) + f"{share:8.1f}%{took_s:7.0f}s"
    )


HEAD = f"{'module':34}    tried   killed  timeout    later survived    equiv.   noticed"


def main() -> None:
    parser = argparse.ArgumentParser(description="Change modules and see whether tests notice.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="as mutate.toml names them")
    parser.add_argument("--lines", default="1-100000", help="FIRST-LAST")
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="only a sample")
    parser.add_argument("--again", type=Path, metavar="LOG", help="only what survived there")
    parser.add_argument("--only-later", action="store_true", help="ask the later tests alone")
    parser.add_argument("--list", action="store_true", help="show the changes, run nothing")
    chosen = parser.parse_args()
    settings: dict[str, Any] = tomllib.loads((TOOLS / "mutate.toml").read_text("utf-8"))
    targets = settings["tests"]
    first, _, last = chosen.lines.partition("-")
    again = survivors(chosen.again.read_text("utf-8")) if chosen.again else None
    lines = range(int(first), int(last or first) + 1)
    changes = Chosen(lines, chosen.one_in, again, chosen.only_later)
    os.chdir(CHECKOUT)
    rows = []
    with scratch_copy() as scratch:
        for module in chosen.modules or targets:
            if chosen.list:
                for each in mutations_of((CHECKOUT / "src/siding" / module).read_bytes()):
                    print(f"{module}:{each.line}: {each.change}")
            else:
                tests = Tests(targets[module], settings["later"].get(module, ()))
                rows.append(try_module(scratch, module, tests, changes))
                print(HEAD, rows[-1], sep="\n", end="\n\n", flush=True)
    print(HEAD, *rows, sep="\n")


if __name__ == "__main__":
    main()
