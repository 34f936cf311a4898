"""What the gates of the product's commands start from: a repository, and the command line."""

from collections.abc import Mapping
from pathlib import Path

import installed
import planted

from .arena import Command, Ran, run


def siding(
    *args: str, env: Mapping[str, str] | None = None, cwd: str = "{case}/repo", fault: str = ""
) -> Command:
    """The installed product's command line, with its home at `<case>/home`.

    Temporary files go to `<case>/tmp`, which a setup makes: what is written there is seen too.
    `fault` is the name of a planted mistake.
    """
    merged = {"SIDING_HOME": "{case}/home", "TMPDIR": "{case}/tmp", **(env or {})}
    return Command(
        argv=(installed.program(), *args), env={**merged, **planted.environment(fault)}, cwd=cwd
    )


def script(path: str, *args: str, fault: str = "") -> Command:
    """A program of the tests that imports the installed product, and nothing from beside itself."""
    return Command(argv=(installed.python(), "-P", path, *args), env=planted.environment(fault))


def repository(case: Path) -> Path:
    """A git repository with one commit at `<case>/repo`, without sample hooks: copies are cheap."""
    repo = case / "repo"
    repo.mkdir(exist_ok=True)  # a link, if it is on another file system
    (repo / "file").write_text("one\n", encoding="utf-8")
    for words in (
        ("init", "-q", "-b", "main", "--template="),
        ("add", "-A"),
        ("commit", "-q", "-m", "first"),
    ):
        must(case, Command(argv=("git", *words), cwd="{case}/repo"))
    return repo


def must(case: Path, command: Command) -> Ran:
    """Runs a command that has to succeed: in a setup, or as the new work of a check."""
    ran = run(case, command)
    assert ran.status == 0, f"{' '.join(command.argv)}: {ran.status}\n{ran.stdout}{ran.stderr}"
    return ran
