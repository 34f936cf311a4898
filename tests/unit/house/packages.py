"""Small packages, for tests of what is counted in one."""

from collections.abc import Mapping
from pathlib import Path

from tools.house.source import Package, read_package


def package(directory: Path, files: Mapping[str, str]) -> Package:
    """Write a package `house` and read it. Each folder gets a file `__init__`, if it has none."""
    root = directory / "house"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for folder in {root, *(path.parent for path in root.rglob("*.py"))}:
        (folder / "__init__.py").touch()
    return read_package(root)
