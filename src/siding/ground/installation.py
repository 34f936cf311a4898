"""How Siding is installed, and the command that adds one of its extras there.

What is added must come into the environment that Siding runs in. Which command does that depends
on what made the environment; a plain `pip install` is often that of another one.
"""

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

DISTRIBUTION = "siding-cli"  # PyPI's `siding` is another project


class Way(StrEnum):
    """What adds to an environment: the command, where `what` is the package with its extras."""

    PIPX = "pipx runpip {venv} install {what}"  # `pipx install --force` forgets other extras
    PIPX_RUN = "pipx run --spec {what} siding"
    UV_TOOL = "uv tool install {what}"
    UVX = "uvx --from {what} siding"
    ACTIVE = "pip install {what}"
    PIP = "{python} -m pip install {what}"
    UV = "uv pip install --python {python} {what}"
    PIP_OF_ANOTHER = "python3 -m pip --python {python} install {what}"


class Installation(NamedTuple):
    """An environment with Siding in it. `package` is the directory that is imported."""

    prefix: Path
    package: Path
    python: str
    has_pip: bool
    env: Mapping[str, str]

    def adding(self, extra: str) -> str:
        """Return the command that adds an extra and takes none away."""
        way = self._way()
        extras = ",".join(sorted({extra, *(self._extras_of_tool() if way is Way.UV_TOOL else ())}))
        source = self.package.parent.parent
        if self.package.parent.name == "src" and (source / "pyproject.toml").is_file():
            what = f"-e {shlex.quote(f'{source}[{extras}]')}"
        else:
            what = shlex.quote(f"{DISTRIBUTION}[{extras}]")
        return way.format(
            what=what, python=shlex.quote(self.python), venv=shlex.quote(self.prefix.name)
        )

    def _way(self) -> Way:
        if (self.prefix / "pipx_metadata.json").is_file():
            return Way.PIPX if self.prefix.parent.name == "venvs" else Way.PIPX_RUN
        if (self.prefix / "uv-receipt.toml").is_file():
            return Way.UV_TOOL
        if re.search(r"/(archive|environments)-v\d+/", f"{self.prefix}/"):
            return Way.UVX
        if self.has_pip:
            return Way.ACTIVE if self.env.get("VIRTUAL_ENV") == str(self.prefix) else Way.PIP
        made_by = _text(self.prefix / "pyvenv.cfg")
        return Way.UV if re.search(r"^uv *=", made_by, re.MULTILINE) else Way.PIP_OF_ANOTHER

    def _extras_of_tool(self) -> list[str]:
        """Return the extras that uv installed: it removes those that are not asked for again."""
        try:
            asked = tomllib.loads(_text(self.prefix / "uv-receipt.toml"))["tool"]["requirements"]
            return [
                str(extra)
                for each in asked
                if each["name"] == DISTRIBUTION
                for extra in each.get("extras", ())
            ]
        except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
            return []


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def adding(extra: str) -> str:
    """Return the command that adds an extra to the Siding that runs."""
    package = Path(__file__).parents[1]
    python = sys.executable or "python3"
    has_pip = find_spec("pip") is not None
    return Installation(Path(sys.prefix), package, python, has_pip, os.environ).adding(extra)
