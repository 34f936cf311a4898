"""Make the documentation's pictures from a real run: ``examples/screenshots.py docs/images``.

A sample repository, real commands, a real dashboard, a real browser (chromium, through Playwright,
which the development dependencies bring).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SIDING = [sys.executable, "-m", "siding"]
DOCUMENTED = 5  # of the pictures; --all makes the others too, to be looked at
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

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
AGENTS = """import time
for number in range(1, 4000):
    print(f"\\x1b[36m[{number:03}]\\x1b[0m indexing catalogue/part-{number:03}.json", flush=True)
    time.sleep(0.12)
"""


class Shot(NamedTuple):
    """A picture: of which page, how large, in which colours."""

    name: str
    path: str
    width: int
    height: int
    scheme: str


def main(words: list[str]) -> int:
    """Make the pictures in the directory that is named first."""
    chromium = shutil.which("chromium")
    if len(words) not in (1, 2) or chromium is None:
        print(__doc__ if chromium else "there is no chromium on this machine")
        return 2
    target = Path(words[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="siding-pictures-") as directory:
        _pictures(Path(directory), target, chromium, everything="--all" in words)
    return 0


def _pictures(directory: Path, target: Path, chromium: str, *, everything: bool) -> None:
    env, repository = _repository(directory)
    tasks = _work(_Runner(env, repository), directory)
    agent = [*SIDING, "run", "-q", "-t", "index the catalogue", "--", "python3", "-c", AGENTS]
    running = subprocess.Popen(
        agent,
        cwd=repository,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with _dashboard(env, repository) as address:
            shots = _shots(tasks)
            _shoot(address, shots if everything else shots[:DOCUMENTED], target, chromium)
    finally:
        running.terminate()
        running.wait()


def _shots(tasks: dict[str, str]) -> list[Shot]:
    cart, live = tasks["fix the cart total"], tasks["index the catalogue"]
    return [
        Shot("board", "/", 1280, 780, "light"),
        Shot("step", f"/tasks/{cart}/steps/1", 1280, 1130, "light"),
        Shot("decision", "/decisions/" + tasks["decision"], 1280, 930, "dark"),
        Shot("live", f"/tasks/{live}", 1280, 760, "dark"),
        Shot("phone", f"/tasks/{cart}", 360, 740, "dark"),
        Shot("board-dark", "/", 1280, 780, "dark"),
        Shot("task", f"/tasks/{cart}", 1280, 900, "light"),
        Shot("decision-light", "/decisions/" + tasks["decision"], 1280, 930, "light"),
        Shot("phone-board", "/", 360, 740, "light"),
        Shot("phone-step", f"/tasks/{cart}/steps/1", 360, 740, "light"),
        Shot("phone-decision", "/decisions/" + tasks["decision"], 360, 740, "light"),
        Shot("wide", "/", 2560, 1200, "light"),
        Shot("events", "/events", 1280, 780, "light"),
        Shot("disk", "/disk", 1280, 780, "dark"),
        Shot("inbox", "/inbox", 1280, 780, "light"),
    ]


def _shoot(address: str, shots: list[Shot], target: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    base, _, key = address.partition("/#")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        for shot in shots:
            page = browser.new_page(
                viewport={"width": shot.width, "height": shot.height},
                color_scheme="dark" if shot.scheme == "dark" else "light",
            )
            page.goto(f"{base}{shot.path}#{key}")
            page.wait_for_selector("main[aria-busy=false]")
            page.wait_for_timeout(1200)  # until what comes into view has been fetched
            page.screenshot(path=target / f"{shot.name}.png")
            page.close()
        browser.close()


def _repository(directory: Path) -> tuple[dict[str, str], Path]:
    home, repository = directory / "home", directory / "shop"
    home.mkdir()
    (repository / "shop").mkdir(parents=True)
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "SIDING_HOME": str(directory / "siding"),
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


class _Runner(NamedTuple):
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


def _work(run: _Runner, directory: Path) -> dict[str, str]:
    """Do some work; return the ids of what there is then."""
    (directory / "agent.py").write_text(WORK, encoding="utf-8")
    run("task", "start", "fix the cart total", "-m", "An item that is bought twice is paid once.")
    run("run", "--", "python3", str(directory / "agent.py"))
    run("run", "--", "sh", "-c", "echo 'E  assert 3 == 4' && exit 1")
    run("run", "--", "sh", "-c", "printf 'prices are cents\\n' > NOTES.md")
    run("rollback", "--step", "1")
    run("task", "start", "search that forgives typing errors")
    run("run", "--", "sh", "-c", "mkdir -p search && seq 1 40 > search/index.txt")
    run("task", "start", "drop Python 3.8", "--no-workspace", "--no-switch")
    run("task", "start", "a faster start", "--no-switch")
    run("run", "-t", "a faster start", "--", "sh", "-c", "echo lazy > lazy.py")
    run("apply", "-t", "a faster start")
    run("task", "start", "prices in several currencies", "--no-switch")
    run("run", "-t", "prices in several currencies", "--", "sh", "-c", "exit 0")
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
