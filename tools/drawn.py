"""A sample of changes from the whole house, and the tests of the folder that each is in.

`mutate.py --drawn 40 --seed 7` asks what share of small mistakes anywhere the tests nearest to
them notice. A module is drawn by its lines, then one of its changes, each as likely as another;
those that make no difference (`mutants-equivalent.txt`) are drawn again. Which tests belong to a
folder is in `mutate.toml`. They are asked file by file, as most changes are noticed by the nearest:
those that are named or lie as the module does or import it, then the others, then what the suite
leaves to `run.py prove`.
"""

import random
import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from tools.mutations import mutations_of

TOOLS = Path(__file__).resolve().parent
CHECKOUT = TOOLS.parent
SOURCE = CHECKOUT / "src/siding"

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

    def only(self, wanted: Sequence[str]) -> "Drawn":
        """Return what is in modules of these names; all of it if none is named."""
        if not wanted:
            return self
        modules = [each for each in self.modules if any(fnmatch(each, word) for word in wanted)]
        kept = (key for key in self.changes if key[0].split()[0] in modules)
        return self._replace(modules=modules, changes=frozenset(kept))

    def files(self) -> list[str]:
        """Return the files with tests of the folder, those nearest to these modules first."""
        return sorted(self._files(), key=lambda file: min(_distance(file, m) for m in self.modules))

    def _files(self) -> list[str]:
        found = set[Path]()
        for name in self.folder.tests:
            path = CHECKOUT / name
            found.update(path.rglob("test_*.py") if path.is_dir() else [path])
        return sorted(path.relative_to(CHECKOUT).as_posix() for path in found)


def _distance(file: str, module: str) -> int:
    """Return how far a file of tests is from a module, by its name, imports and place."""
    path = Path(module)
    if path.stem in file.rpartition("/")[2]:
        return 0
    room = ".".join(("siding", *path.parent.parts))
    imported = rf"{room}\.{path.stem}\b|from {room} import (\([^)]*)?[^(]*\b{path.stem}\b"
    if re.search(imported, (CHECKOUT / file).read_text("utf-8")):
        return 1
    if Path(file).parent.match(f"tests/unit/{path.parent}"):
        return 2
    return 3 if file.startswith("tests/unit") else 4


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
