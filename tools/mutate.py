"""Try what the tests of a module would notice: change it in one place, run them, see one fail.

    .venv/bin/python -m tools.mutate                      every module of `mutate.toml`
    .venv/bin/python -m tools.mutate storage/locks.py     this one; several may be named
    .venv/bin/python -m tools.mutate 'git/applying/*'     those of this name
    .venv/bin/python -m tools.mutate --lines 40-80 MODULE changes that begin on these lines
    .venv/bin/python -m tools.mutate --one-in 3 MODULE    a third of the changes, always the same
    .venv/bin/python -m tools.mutate --again LOG MODULE   those that a run survived, by its output
    .venv/bin/python -m tools.mutate --list MODULE        the changes, without running anything
    .venv/bin/python -m tools.mutate --drawn 40 --seed 7  changes from the whole house (`drawn.py`);
                                                          with names, those of them in these modules

A developer's tool: run it after work on such a module, and read what survived. Each survivor is a
missing test, code that nobody needs, or a change that makes no difference. The last kind goes into
`mutants-equivalent.txt` with its reason, in the form in which it is printed here, and is not tried
again. The run is reproducible: Hypothesis draws the same examples every time.

Nothing in the checkout is changed. The package is copied, the copy comes first on the path, and the
one changed file is written there; a test that starts another Python sees it too. A change is shown
to those tests of its group that run its line, in whatever process, and the first failure ends it.
A test that takes far longer than with the unchanged module is stopped and counts as noticed. Tests
that take more than `--most` seconds together are not all run: the fastest are (`trial.py`).

What is changed is in `mutations.py`. Texts are not: no test should repeat each message.
"""

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from tools.drawn import Drawn, Key, draw
from tools.mutations import Mutation, mutations_of
from tools.trial import CHECKOUT, FAILED, OPTIONS, STOPPED, SURVIVED, Trial

TOOLS = Path(__file__).resolve().parent
EQUIVALENT = TOOLS / "mutants-equivalent.txt"
_ALL_LINES = range(1, 100_001)
_SCRATCH = "MUTANTS_SCRATCH"  # the directory of the copy, for ourselves started again


@contextmanager
def scratch_copy() -> Iterator[Path]:
    """A directory with a copy of the package, compiled, and what Python is to load at its start."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        shutil.copytree(CHECKOUT / "src", Path(name, "src"))
        compileall.compile_dir(Path(name, "src"), quiet=1)
        shutil.copy(TOOLS / "site/sitecustomize.py", Path(name, "src"))
        yield Path(name)


class Group(NamedTuple):
    """Modules that the same tests run."""

    modules: list[str]
    tests: list[str]


def groups(wanted: Sequence[str]) -> Iterator[Group]:
    """Yield the groups of `mutate.toml`, of their modules those that are wanted.

    A module belongs to the first group that names it.
    """
    met = set[str]()
    for each in tomllib.loads((TOOLS / "mutate.toml").read_text("utf-8"))["group"]:
        source = CHECKOUT / "src/siding"
        modules = [
            str(path.relative_to(source))
            for pattern in each["modules"]
            for path in sorted(source.glob(pattern))
            if path.read_bytes().strip()
        ]
        modules = [module for module in modules if module not in met]
        met.update(modules)
        chosen = [m for m in modules if not wanted or any(fnmatch(m, word) for word in wanted)]
        if chosen:
            yield Group(chosen, each["tests"])


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


def try_module(trial: Trial, module: str, chosen: Chosen) -> str:
    """Try every change of a module; print what survives; return its row of the table."""
    known, counts, began = equivalents(), Counter[str](), time.monotonic()
    met: set[tuple[str, str, str]] = set()
    for mutation in mutations_of(trial.path(module).read_bytes()):
        key = _key(module, mutation)
        met.add(key)
        if not chosen.has(mutation, key):
            continue
        if key in known:
            counts["equivalent"] += 1
            continue
        verdict = trial.verdict(module, mutation)
        counts[verdict.outcome] += 1
        if verdict.outcome == SURVIVED:
            place = f"# line {mutation.line}, run by {verdict.tests} tests"
            print(place, *key, "", sep="\n", flush=True)
    for stale in sorted(key for key in known if key[0].split()[0] == module and key not in met):
        print(f"no such change any more in {EQUIVALENT.name}:", *stale, sep="\n  ")
    row = _row(module, counts, time.monotonic() - began)
    print(HEAD, row, sep="\n", end="\n\n", flush=True)
    return row


def _row(module: str, counts: Mapping[str, int], took_s: float) -> str:
    noticed = counts[FAILED] + counts[STOPPED]
    tried = noticed + counts[SURVIVED]
    share = 100 * noticed / tried if tried else 100
    columns = (tried, counts[FAILED], counts[STOPPED], counts[SURVIVED], counts["equivalent"])
    return (
        f"{module:34}" + "".join(f"{each:>9}" for each in columns) + f"{share:8.1f}%{took_s:7.0f}s"
    )


HEAD = f"{'module':34}    tried   killed  timeout survived    equiv.   noticed"


def main() -> None:
    parser = argparse.ArgumentParser(description="Change modules and see whether tests notice.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="below src/siding")
    parser.add_argument("--lines", default="1-100000", help="FIRST-LAST")
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="only a sample")
    parser.add_argument("--again", type=Path, metavar="LOG", help="only what survived there")
    parser.add_argument("--most", type=float, default=60, metavar="SECONDS", help="of tests")
    parser.add_argument("--list", action="store_true", help="show the changes, run nothing")
    parser.add_argument("--drawn", type=int, metavar="N", help="so many from the whole house")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument(
        "--patience",
        type=float,
        default=240,
        metavar="SECONDS",
        help="with a folder of what is drawn",
    )
    chosen = parser.parse_args()
    first, _, last = chosen.lines.partition("-")
    again = survivors(chosen.again.read_text("utf-8")) if chosen.again else None
    changes = Chosen(range(int(first), int(last or first) + 1), chosen.one_in, again)
    work = [(group.modules, changes) for group in groups(chosen.modules)]
    drawn: list[Drawn] = []
    if chosen.drawn:
        found = draw(chosen.drawn, chosen.seed, equivalents())
        drawn = [each for each in (it.only(chosen.modules) for it in found) if each.changes]
        work = [(each.modules, Chosen(_ALL_LINES, 1, each.changes)) for each in drawn]
    if chosen.list:
        _list(work)
        return
    if _SCRATCH not in os.environ:
        with scratch_copy() as scratch:
            sys.exit(_started_again(scratch))
    scratch = Path(os.environ[_SCRATCH])
    if drawn:
        _try_drawn(scratch, drawn, chosen.most, chosen.patience)
        return
    rows = []
    for group in groups(chosen.modules):
        rows += _try_group(scratch, group, changes, chosen.most)
    print(HEAD, *rows, sep="\n")


def _list(work: Sequence[tuple[Sequence[str], Chosen]]) -> None:
    for modules, chosen in work:
        for module in modules:
            for each in mutations_of((CHECKOUT / "src/siding" / module).read_bytes()):
                if chosen.has(each, _key(module, each)):
                    print(f"{module}:{each.line}: {each.change}")


def _try_drawn(scratch: Path, drawn: Sequence[Drawn], most_s: float, patience_s: float) -> None:
    """Show each change to the tests of its folder; print which file of them noticed it first."""
    survived = 0
    for each in drawn:
        left, until = each, time.monotonic() + patience_s
        # What the suite leaves to `run.py prove` comes last.
        for proves, files in (("", each.files()), ("left", list(each.folder.tests))):
            if left.changes and time.monotonic() < until:
                os.environ["SIDING_PROVE"] = proves
                work = partial(_by_file, drawn=left, until=until)
                found = _in_session(scratch, each.modules, files, most_s, work)
                if found is not None:
                    left = each._replace(changes=frozenset(tuple(key) for key in found))
        for key in sorted(left.changes):
            survived += 1
            print("survived", *key, "", sep="\n", flush=True)
    print(f"{survived} survived")


def _by_file(trial: Trial, drawn: Drawn, until: float) -> list[Key]:
    """Ask one file of tests after the other; return the changes that all of them passed."""
    left = set(drawn.changes)
    files = trial.files()
    for number, (file, tests) in enumerate(files.items()):
        if not left:
            break
        if time.monotonic() > until:
            print(f"not asked any more: {len(files) - number} of {len(files)} files", flush=True)
            break
        trial.note(tests)
        for module in drawn.modules:
            for each in mutations_of(trial.path(module).read_bytes()):
                key = _key(module, each)
                if key not in left:
                    continue
                verdict = trial.verdict(module, each)
                if verdict.outcome != SURVIVED:
                    left.remove(key)
                    print(
                        f"{verdict.outcome} by {verdict.test or file}",
                        *key,
                        "",
                        sep="\n",
                        flush=True,
                    )
    return sorted(left)


def _key(module: str, mutation: Mutation) -> tuple[str, str, str]:
    """Return place, line and change: what is printed, and what `mutants-equivalent.txt` has."""
    return f"{module} {mutation.function}".strip(), mutation.line_text, mutation.change


def _started_again(scratch: Path) -> int:
    """Run this program again, with the copy first on the path of all that it starts."""
    path = f"{scratch / 'src'}:{CHECKOUT}"
    all_tests = {"SIDING_PROVE": "1"}  # also those that only `run.py prove` tries
    env = {**os.environ, **all_tests, "PYTHONPATH": path, _SCRATCH: str(scratch)}
    words = [sys.executable, "-m", "tools.mutate", *sys.argv[1:]]
    return subprocess.run(words, cwd=Path.cwd(), env=env, check=False).returncode


def _try_group(scratch: Path, group: Group, changes: Chosen, most_s: float) -> list[str]:
    def work(trial: Trial) -> list[str]:
        trial.note(trial.items)
        return [try_module(trial, each, changes) for each in group.modules]

    return _in_session(scratch, group.modules, group.tests, most_s, work) or []


def _in_session(
    scratch: Path,
    modules: Sequence[str],
    tests: Sequence[str],
    most_s: float,
    work: Callable[[Trial], list[Any]],
) -> list[Any] | None:
    """Return what the work told; None if pytest could not begin it.

    It is done in a fork, as a session of pytest leaves traces.
    """
    told: list[Any] = []
    pid = os.fork()
    if pid == 0:
        os.chdir(CHECKOUT)
        sys.path.append(str(CHECKOUT / "tests"))
        for module in modules:
            _forget_compiled(scratch / "src/siding" / module)
        trial = Trial(scratch, modules, most_s, lambda trial: told.extend(work(trial)))
        status = pytest.main([*OPTIONS, *tests], plugins=[trial])
        (scratch / "result").write_text(json.dumps(told), "utf-8")
        sys.stdout.flush()
        os._exit(int(status))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        print(f"{modules[0]} and its group: pytest ended with {status}", flush=True)
        return None
    found: list[Any] = json.loads((scratch / "result").read_text("utf-8"))
    return found


def _forget_compiled(path: Path) -> None:
    """A module's cached code is told from another's by time and size, too roughly for us."""
    for cached in path.parent.glob(f"__pycache__/{path.stem}.*"):
        cached.unlink()


if __name__ == "__main__":
    main()
