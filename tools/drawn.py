"""A sample of changes from the whole house, and the tests of the folder that each is in.

`mutate.py --drawn 40 --seed 7` asks what share of small mistakes anywhere the tests nearest to
them notice. A module is drawn by its lines, then one of its changes, each as likely as another;
those that make no difference (`mutants-equivalent.txt`) are drawn again. Which tests belong to a
folder is in `mutate.toml`.
"""

import random
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.mutations import mutations_of

TOOLS = Path(__file__).resolve().parent
SOURCE = TOOLS.parent / "src/siding"

Key = tuple[str, ...]  # place, line and change, as they are printed


class Folder(NamedTuple):
    """A folder of the house, and the tests beside it."""

    name: str
    tests: tuple[str, ...]


class Drawn(NamedTuple):
    """What was drawn in one folder: its modules, and the changes in them."""

    folder: Folder
    modules: list[str]
    changes: frozenset[Key]


def folders() -> list[Folder]:
    """Return the folders of `mutate.toml`, the deepest first."""
    told = tomllib.loads((TOOLS / "mutate.toml").read_text("utf-8"))["folder"]
    found = [Folder(each["name"], tuple(each["tests"])) for each in told]
    return sorted(found, key=lambda each: -each.name.count("/"))


def draw(count: int, seed: int, known: Collection[Key]) -> Iterator[Drawn]:
    """Draw so many changes that are not known to make no difference, and yield them by folder."""
    chance = random.Random(seed)
    of_folder: dict[Folder, dict[str, set[Key]]] = {}
    lines = {module: text.count(b"\n") for module, text in _modules()}
    for _ in range(count):
        module, key = _one(chance, lines, known)
        by_module = of_folder.setdefault(_folder(module), {})
        by_module.setdefault(module, set()).add(key)
    for folder, by_module in sorted(of_folder.items()):
        yield Drawn(folder, sorted(by_module), frozenset().union(*by_module.values()))


def _one(chance: random.Random, lines: dict[str, int], known: Collection[Key]) -> tuple[str, Key]:
    while True:
        (module,) = chance.choices(list(lines), weights=list(lines.values()))
        changes = list(mutations_of((SOURCE / module).read_bytes()))
        if not changes:
            continue
        chosen = chance.choice(changes)
        key = (f"{module} {chosen.function}".strip(), chosen.line_text, chosen.change)
        if key not in known:
            return module, key


def _modules() -> Iterator[tuple[str, bytes]]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_bytes()
        if text.strip():
            yield path.relative_to(SOURCE).as_posix(), text


def _folder(module: str) -> Folder:
    for folder in folders():
        if module.startswith(folder.name + "/") or module == folder.name:
            return folder
    raise LookupError(f"mutate.toml has no tests for {module}")
