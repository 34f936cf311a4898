"""A sample repository with tasks in all states, and the dashboard that shows them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SIDING = [sys.executable, "-m", "siding"]

CART = '''"""What a customer is about to buy."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def total(self):
        total = 0
        for item in self.items:
            total += item.price
        return total
'''
WORK = r'''
import pathlib, sys, time
path = pathlib.Path("shop/cart.py")
text = path.read_text()
text = text.replace("+= item.price\n", "+= item.price * item.count\n")
text = text.replace("return total\n", "return round(total, 2)  # cents, never fractions\n")
text += """
    def __len__(self):
        return sum(item.count for item in self.items)
"""
path.write_text(text)
pathlib.Path("tests").mkdir(exist_ok=True)
pathlib.Path("tests/test_cart.py").write_text("""from shop.cart import Cart


def test_an_empty_cart_costs_nothing():
    assert Cart().total() == 0
""")
print("\x1b[1m● Read\x1b[0m shop/cart.py")
print("\x1b[2m  the total ignores how many of an item there are\x1b[0m")
print("\x1b[1m● Edit\x1b[0m shop/cart.py  \x1b[32m+5\x1b[0m \x1b[31m-2\x1b[0m")
print("\x1b[1m● Run\x1b[0m  pytest -q")
print("\x1b[32m.\x1b[0m                                                       [100%]")
print("\x1b[32m\x1b[1m1 passed\x1b[0m in 0.02s")
'''
QUESTION = {
    "task": "Prices in several currencies",
    "source": "plan.md",
    "items": [
        {
            "id": 1,
            "title": "How is an amount stored?",
            "context": "The cart adds up **floats** today. Rounding errors become visible as "
            "soon as there is a second currency.\n\n- `total()` is called in 14 places\n"
            "- 3 of them format it",
            "location": {"file": "shop/cart.py", "start": 11, "end": 15},
            "options": [
                {
                    "value": "cents",
                    "label": "Whole cents, as int",
                    "score": 86,
                    "pros": ["exact", "no new dependency"],
                    "cons": ["every caller changes"],
                },
                {
                    "value": "decimal",
                    "label": "decimal.Decimal",
                    "score": 71,
                    "pros": ["reads like a price"],
                    "cons": ["slower", "easy to mix with floats"],
                },
            ],
            "recommend": "cents",
        },
        {
            "id": 2,
            "title": "Which currencies come first?",
            "kind": "multiple",
            "min": 1,
            "max": 3,
            "options": [{"value": each, "label": each} for each in ("EUR", "USD", "GBP", "JPY")],
        },
    ],
}
INDEX = """import time
for number in range(1, 4000):
    print(f"\\x1b[36m[{number:03}]\\x1b[0m indexing catalogue/part-{number:03}.json", flush=True)
    time.sleep(0.12)
"""
# Stand-ins for what a person would run, found on the path.
PROGRAMS = {
    "agent": WORK,
    "index": INDEX,
    "check": "print('E  assert 3 == 4')\nraise SystemExit(1)\n",
    "notes": "open('NOTES.md', 'w').write('prices are cents\\n')\n",
    "words": "open('words.txt', 'w').write('apple\\npear\\n')\n",
    "plan": "",
}


class Runner(NamedTuple):
    """Runs Siding as a person in the repository would."""

    env: dict[str, str]
    repository: Path

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [*SIDING, *words],
            cwd=self.repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip()


@contextmanager
def open_shop(directory: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Make the repository, do some work, leave a run running; yield the address and the ids.

    The ids are those of the tasks by their names, and that of the question as `decision`.
    """
    env, repository = _repository(directory)
    ids = _work(Runner(env, repository))
    running = subprocess.Popen(
        [*SIDING, "run", "-q", "-t", "index the catalogue", "--", "index"],
        cwd=repository,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with _dashboard(env, repository) as address:
            yield address, ids
    finally:
        running.terminate()
        running.wait()


def _repository(directory: Path) -> tuple[dict[str, str], Path]:
    home, programs = directory / "home", directory / "bin"
    repository = home / "shop"
    (repository / "shop").mkdir(parents=True)
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        (programs / name).chmod(0o755)
    env = {
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "SIDING_HOME": str(home / ".siding"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "LC_ALL": "C.UTF-8",
    }
    (repository / "shop" / "cart.py").write_text(CART, encoding="utf-8")
    (repository / "README.md").write_text("# The shop\n", encoding="utf-8")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "The shop"]):
        subprocess.run(["git", *words], cwd=repository, env=env, check=True)
    return env, repository


def _work(run: Runner) -> dict[str, str]:
    """Do some work; return the ids of what there is then."""
    run("task", "start", "fix the cart total", "-m", "An item that is bought twice is paid once.")
    run("run", "--", "agent", "fix the cart total")
    run("run", "--", "check")
    run("run", "--", "notes")
    run("rollback", "--step", "1")
    run("task", "start", "search that forgives typing errors")
    run("run", "--", "words")
    run("task", "start", "drop Python 3.8", "--no-workspace", "--no-switch")
    run("task", "start", "a faster start", "--no-switch")
    run("run", "-t", "a faster start", "--", "words")
    run("apply", "-t", "a faster start")
    run("task", "start", "prices in several currencies", "--no-switch")
    run("run", "-t", "prices in several currencies", "--", "plan")
    shown = json.loads(run("task", "show", "prices in several currencies", "--format", "json"))
    decision = run("-C", shown["workspace"]["path"], "decide", "--no-wait", json.dumps(QUESTION))
    run("task", "start", "index the catalogue", "--no-switch")
    found = json.loads(run("task", "list", "--all", "--format", "json"))
    return {**{each["name"]: each["id"] for each in found}, "decision": decision}


@contextmanager
def _dashboard(env: dict[str, str], repository: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [*SIDING, "ui"],
        cwd=repository,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert re.match(r"http://127\.0\.0\.1:\d+/#key=", address), address
    try:
        yield address
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
