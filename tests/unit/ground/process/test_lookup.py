"""Programs that cannot be started: the codes a shell has, checked against a shell."""

import subprocess
from pathlib import Path

import pytest

from siding.ground.process.command import Ending, StreamPlan

from .world import ENVIRONMENT, Place


@pytest.fixture
def programs(place: Place) -> Path:
    """A folder of programs that work, and that do not."""
    folder = place.folder / "programs"
    (folder / "folder").mkdir(parents=True)
    contents = {
        "works": b"#!/bin/sh\necho works $1\n",
        "no-first-line": b"echo works $1\n",
        "no-interpreter": b"#!/no/such/interpreter\n",
        "binary": b"\x7fELF\0\0 not really\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755)
    (folder / "not-executable").write_bytes(b"echo never\n")
    return folder


NAMES = ["no-interpreter", "binary", "folder", "not-executable", "missing", "works/below"]


@pytest.mark.parametrize("streams", StreamPlan)
@pytest.mark.parametrize("name", NAMES)
def test_the_code_is_the_shells(
    place: Place, programs: Path, name: str, streams: StreamPlan
) -> None:
    shell = subprocess.run(
        ["bash", "-c", f"programs/{name}"],
        cwd=place.folder,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    run = place.run(f"programs/{name}", streams=streams)
    # A path through a file is 126 for bash and 127 for dash and POSIX: there is no such file.
    expected = 127 if name == "works/below" else shell.returncode
    assert run.outcome.exit_code == expected
    assert run.outcome.ending is Ending.NOT_STARTED
    assert run.outcome.child_exit_code is None
    assert f"programs/{name}" in str(run.outcome.reason)
    assert (run.stdout, run.stderr) == (b"", b"")


@pytest.mark.parametrize("streams", StreamPlan)
@pytest.mark.parametrize("name", ["works", "no-first-line"])
def test_scripts_start_with_and_without_a_first_line(
    place: Place, programs: Path, name: str, streams: StreamPlan
) -> None:
    run = place.run(f"programs/{name}", "here", streams=streams)
    assert run.stdout.split() == [b"works", b"here"]


def test_the_path_is_that_of_the_given_environment(place: Place, programs: Path) -> None:
    assert place.run("works", "1", env={"PATH": f"/nowhere:{programs}"}).stdout == b"works 1\n"
    assert place.run("works", "1", env={"PATH": "programs"}).stdout == b"works 1\n"
    missing = place.run("works", env={"PATH": "/usr/bin:/bin"}).outcome
    assert (missing.exit_code, missing.reason) == (127, "'works': command not found")


def test_a_file_on_the_path_that_may_not_be_run_is_126(place: Place, programs: Path) -> None:
    outcome = place.run("not-executable", env={"PATH": str(programs)}).outcome
    assert (outcome.exit_code, outcome.reason) == (126, "'not-executable': Permission denied")
    assert place.run("folder", env={"PATH": str(programs)}).outcome.exit_code == 127


@pytest.mark.parametrize("name", ["", "nul\0byte"])
def test_a_name_no_file_can_have(place: Place, name: str) -> None:
    assert place.run(name).outcome.exit_code == 127


def test_a_nul_in_an_argument_cannot_be_passed(place: Place) -> None:
    outcome = place.run("echo", "a\0b").outcome
    assert (outcome.ending, outcome.exit_code) == (Ending.NOT_STARTED, 126)
    assert place.run("echo", env={**ENVIRONMENT, "a=b": "c"}).outcome.exit_code == 126


@pytest.mark.parametrize("streams", StreamPlan)
def test_too_many_arguments_cannot_be_passed(place: Place, streams: StreamPlan) -> None:
    outcome = place.run("echo", *["x" * 100_000] * 100, streams=streams).outcome
    assert (outcome.exit_code, outcome.ending) == (126, Ending.NOT_STARTED)
    assert "too long" in str(outcome.reason)
