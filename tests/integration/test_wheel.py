"""What is published: a wheel with all of the product and nothing of the tests, which works, and an
archive of the sources with every file of the repository, from which the same wheel is built.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import installed
from dashboards import Dashboard
from faults import storage_victim
from faults.product import script
from sandbox import Sandbox
from siding import __version__

SOURCE = installed.CHECKOUT / "src"


@pytest.fixture
def user(tmp_path: Path) -> Sandbox:
    """A person with the installed Siding, a repository, and a home with nothing in it."""
    sandbox = Sandbox(tmp_path, program=[installed.program()])
    programs = Path(installed.program()).parent
    sandbox.env["PATH"] = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    return sandbox


def test_it_holds_every_file_of_the_package_and_no_other() -> None:
    source = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(installed.wheel()) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        about = {name.partition("/")[2] for name in wheel.namelist() if ".dist-info/" in name}
    assert names == source
    rooms = ("record/ledger", "record/snapshots", "agents/transcripts", "ground/storage")
    assert {"siding/py.typed", *(f"siding/{room}/FORMAT.md" for room in rooms)} <= names
    assert {Path(name).suffix for name in names} >= {".html", ".js", ".mjs", ".css", ".svg"}
    assert about == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_the_archive_of_sources_is_the_repository_and_makes_the_same_wheel(tmp_path: Path) -> None:
    """Both are built as they are published, and checked as they are before an upload."""
    _python("-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(installed.CHECKOUT))
    (archive,), (wheel,) = tmp_path.glob("*.tar.gz"), tmp_path.glob("*.whl")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert names - {"PKG-INFO"} == _files_of_the_repository(tmp_path / "no.git")
    # The wheel was built from the archive, the installed one from the checkout.
    assert (wheel.name, wheel.read_bytes()) == (
        installed.wheel().name,
        installed.wheel().read_bytes(),
    )
    checked = _python("-m", "twine", "--no-color", "check", "--strict", str(archive), str(wheel))
    assert checked.count("PASSED") == 2, checked


def test_its_page_links_to_nothing_that_is_not_there() -> None:
    """An index of packages has the text of the README, and none of the files beside it."""
    with zipfile.ZipFile(installed.wheel()) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        about = message_from_bytes(wheel.read(name))
    page = about.get_payload()
    assert isinstance(page, str)
    readme = (installed.CHECKOUT / "README.md").read_text("utf-8")
    assert about["Description-Content-Type"] == "text/markdown"
    assert re.findall(r"^#+ .*", page, re.MULTILINE) == re.findall(r"^#+ .*", readme, re.MULTILINE)
    pictures = re.findall(r"!\[([^\]]*)\]\((?!https?:)", readme)
    assert len(pictures) >= 1
    assert not [caption for caption in pictures if caption in page]
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", page)


def test_what_the_dockerfile_copies_makes_the_same_wheel(tmp_path: Path) -> None:
    """No docker runs here; the rest of its steps are those of `tools/fresh_machine.py`."""
    here = installed.CHECKOUT
    everything, *lines = (here / ".dockerignore").read_text("utf-8").splitlines()
    assert (everything, lines[-1]) == ("*", "**/__pycache__")
    for name in (line.removeprefix("!") for line in lines[:-1]):
        if (here / name).is_dir():
            caches = shutil.ignore_patterns("__pycache__")
            shutil.copytree(here / name, tmp_path / name, ignore=caches)
        else:
            shutil.copy(here / name, tmp_path)
    _python("-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=tmp_path)
    made = (tmp_path / "dist" / installed.wheel().name).read_bytes()
    assert made == installed.wheel().read_bytes()
    assert (here / "Dockerfile").read_text("utf-8").splitlines()[-1] == 'ENTRYPOINT ["siding"]'


def _files_of_the_repository(no_git: Path) -> set[str]:
    """Return what git tracks, and would if asked; also where the sources are no checkout."""
    here = installed.CHECKOUT / ".git"
    if not here.exists():
        subprocess.run(["git", "init", "-q", "--bare", no_git], check=True)
        here = no_git
    git = ["git", f"--git-dir={here}", f"--work-tree={installed.CHECKOUT}", "ls-files", "-z"]
    listed = subprocess.run(
        [*git, "--cached", "--others", "--exclude-standard"],
        cwd=installed.CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(listed.stdout.split("\0")) - {"", "PKG-INFO"}
    return {name for name in names if (installed.CHECKOUT / name).is_file()}


def _python(*words: str, cwd: Path = installed.CHECKOUT) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_the_version_that_it_says(user: Sandbox) -> None:
    assert user.siding("--version").stdout.decode() == f"siding {__version__}\n"
    assert f"-{__version__}-py3-none-any.whl" in installed.wheel().name


def test_a_first_tour(user: Sandbox) -> None:
    work = "echo out; echo changed >> hello.txt; echo new > new.txt"
    user.siding("run", "--", "sh", "-c", work)
    (step,) = user.steps()
    assert (step["status"], step["diff_stat"]["file_list"]) == (
        "completed",
        ["hello.txt", "new.txt"],
    )
    assert b"+changed" in user.siding("diff").stdout
    assert b"out" in user.siding("show", "1").stdout
    user.siding("rollback", "--base", "--force")
    assert not (user.workspace() / "new.txt").exists()
    user.siding("undo")
    assert (user.workspace() / "new.txt").read_text("utf-8") == "new\n"
    user.siding("verify")
    user.siding("apply")
    assert user.git("show", "main:new.txt") == "new"


def test_the_dashboard_has_its_pages_and_files(user: Sandbox) -> None:
    user.siding("task", "start", "look at me")
    static = {path.name for path in (SOURCE / "siding/faces/web/static").iterdir()}
    with Dashboard(user) as dashboard:
        assert b"/static/siding.js" in dashboard.get("/")[1]
        assert b"look at me" in dashboard.get("/view/")[1]
        assert dashboard.get("/view/inbox")[0] == 200
        for name in sorted(static):
            status, body = dashboard.get(f"/static/{name}")
            assert (status, body) == (200, (SOURCE / "siding/faces/web/static" / name).read_bytes())


def test_no_file_of_the_checkout_is_loaded_by_a_victim(user: Sandbox) -> None:
    """What the gates prove, they prove of the wheel; `-v` names every file that is imported."""
    victims = (
        [installed.program(), "run", "--", "true"],
        list(script(storage_victim.__file__, "append", "one").argv[1:]),
    )
    for victim in victims:
        command = [installed.python(), "-v", *victim]
        done = subprocess.run(
            command,
            cwd=user.repo,
            env=user.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert str(installed.package() / "ground/storage") in done.stderr
        assert str(SOURCE) not in done.stderr
