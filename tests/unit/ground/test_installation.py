"""The command that adds an extra, for each way in which Siding may have been installed."""

import os
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from tools.house.source import CHECKOUT

from siding.ground import installation
from siding.ground.installation import DISTRIBUTION, Installation, adding

RECEIPT = """[tool]
requirements = [
    { name = "siding-cli", extras = ["mcp", "agent"] },
    { name = "other", extras = ["x"] },
]
"""
PATH_RECEIPT = (
    '[tool]\nrequirements = [{ name = "siding-cli", path = "/w/siding_cli-0.1.0.whl" }]\n'
)
UV_VENV = "home = /usr/bin\nuv = 0.13.9\n"
VENV = "home = /usr/bin\nversion = 3.11.7\n"


class Case(NamedTuple):
    """An environment below the scratch directory: what is in it, and the command there."""

    prefix: str
    command: str
    files: Mapping[str, str] = MappingProxyType({})
    has_pip: bool = False
    active: str = ""
    package: str = ""


CASES = {
    "venv": Case("v", "{p}/bin/python -m pip install 'siding-cli[acp]'", has_pip=True),
    "active venv": Case("v", "pip install 'siding-cli[acp]'", has_pip=True, active="v"),
    "another venv is active": Case(
        "v", "{p}/bin/python -m pip install 'siding-cli[acp]'", has_pip=True, active="w"
    ),
    "active venv without pip": Case(
        "v",
        "python3 -m pip --python {p}/bin/python install 'siding-cli[acp]'",
        {"pyvenv.cfg": VENV},
        active="v",
    ),
    "venv of uv": Case(
        "v",
        "uv pip install --python {p}/bin/python 'siding-cli[acp]'",
        {"pyvenv.cfg": UV_VENV},
        active="v",
    ),
    "a path with a space": Case(
        "a b", "'{p}/bin/python' -m pip install 'siding-cli[acp]'", has_pip=True
    ),
    "checkout": Case(
        "co/.venv",
        "{p}/bin/python -m pip install -e '{t}/co[acp]'",
        {"../pyproject.toml": ""},
        has_pip=True,
        package="co/src/siding",
    ),
    "checkout, active": Case(
        "co/.venv",
        "pip install -e '{t}/co[acp]'",
        {"../pyproject.toml": ""},
        has_pip=True,
        active="co/.venv",
        package="co/src/siding",
    ),
    "sources that are no checkout": Case(
        "v", "pip install 'siding-cli[acp]'", has_pip=True, active="v", package="co/src/siding"
    ),
    "a directory in somebody's project": Case(
        "v",
        "pip install 'siding-cli[acp]'",
        {"../co/pyproject.toml": ""},
        has_pip=True,
        active="v",
        package="co/vendored/siding",
    ),
    "pipx": Case(
        "pipx/venvs/siding-cli",
        "pipx runpip siding-cli install 'siding-cli[acp]'",
        {"pipx_metadata.json": "{}"},
        has_pip=True,
    ),
    "pipx elsewhere, with a suffix and uv": Case(
        "x/venvs/siding-cli@2",
        "pipx runpip siding-cli@2 install 'siding-cli[acp]'",
        {"pipx_metadata.json": "{}", "pyvenv.cfg": UV_VENV},
    ),
    "pipx run": Case(
        ".cache/pipx/90ac4bad2fce162",
        "pipx run --spec 'siding-cli[acp]' siding",
        {"pipx_metadata.json": "{}"},
    ),
    "uv tool": Case(
        "uv/tools/siding-cli",
        "uv tool install 'siding-cli[acp]'",
        {"uv-receipt.toml": PATH_RECEIPT, "pyvenv.cfg": UV_VENV},
    ),
    "uv tool with extras, which are kept": Case(
        "uv/tools/siding-cli",
        "uv tool install 'siding-cli[acp,agent,mcp]'",
        {"uv-receipt.toml": RECEIPT},
    ),
    "uv tool with a receipt that says nothing": Case(
        "uv/tools/siding-cli", "uv tool install 'siding-cli[acp]'", {"uv-receipt.toml": "tool = 1"}
    ),
    "uv tool, editable": Case(
        "uv/tools/siding-cli",
        "uv tool install -e '{t}/co[acp,agent,mcp]'",
        {"uv-receipt.toml": RECEIPT, "../../../co/pyproject.toml": ""},
        package="co/src/siding",
    ),
    "uvx": Case(
        "uv/archive-v0/sKW", "uvx --from 'siding-cli[acp]' siding", {"pyvenv.cfg": UV_VENV}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_command_adds_to_the_environment_that_siding_runs_in(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    prefix = tmp_path / case.prefix
    package = tmp_path / (case.package or f"{case.prefix}/lib/python3.11/site-packages/siding")
    for made in (prefix, package):
        made.mkdir(parents=True)
    for file, text in case.files.items():
        path = prefix / file
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    env = {"VIRTUAL_ENV": str(tmp_path / case.active)} if case.active else {}
    here = Installation(prefix, package, f"{prefix}/bin/python", case.has_pip, env)
    assert here.adding("acp") == case.command.format(p=prefix, t=tmp_path)
    assert shlex.split(here.adding("acp"))


def test_an_extra_that_is_there_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").write_text(RECEIPT)
    here = Installation(tmp_path, tmp_path, "python", False, {})
    assert here.adding("mcp") == "uv tool install 'siding-cli[agent,mcp]'"


def test_the_name_and_each_extra_are_those_of_the_project() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    source = Path(installation.__file__).parents[1]
    texts = [path.read_text("utf-8") for path in source.rglob("*.py")]
    assert not [text for text in texts if "siding[" in text]
    for extra in ("bedrock", "vertex"):
        assert f"{DISTRIBUTION}[agent]" in project["optional-dependencies"][extra]


def test_this_checkout_is_one() -> None:
    command = adding("acp")
    assert shlex.split(command)[-2:] == ["-e", f"{CHECKOUT}[acp]"]
    assert sys.executable in command or os.environ["VIRTUAL_ENV"] == sys.prefix
