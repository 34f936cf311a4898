"""Siding as a user has it: a wheel of this checkout, installed where no file of `src/` is.

The wheel is built and installed once for all processes of a test run, the first time that one asks.
No network is used: hatchling is in the development group, and what Siding depends on is taken from
the environment that runs the tests.
"""

import compileall
import fcntl
import subprocess
import sys
import sysconfig
import venv
import zipfile
from configparser import ConfigParser
from functools import cache
from hashlib import sha256
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
_BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")  # and everything below src
_SCRIPT = """#!{python}
import sys
from {module} import {function}
sys.exit({function}())
"""

_directory: Path | None = None


def install_below(directory: Path) -> None:
    """Choose the directory of the test run, which all of its processes share."""
    global _directory
    _directory = directory


def program() -> str:
    """Return the installed `siding`."""
    return str(_installed() / "bin/siding")


def python() -> str:
    """Return the interpreter that imports the installed `siding`."""
    return str(_installed() / "bin/python")


def package() -> Path:
    """Return the directory of the installed package."""
    return _site_packages(_installed()) / "siding"


def wheel() -> Path:
    """Return the wheel that is installed."""
    (found,) = _installed().glob("wheel/*.whl")
    return found


@cache
def _installed() -> Path:
    assert _directory is not None, "conftest.py chooses the directory"
    root = _directory / f"siding-{_digest()}"
    with open(_directory / "siding.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "complete").exists():
            _install(_build(root / "wheel"), root)
            (root / "complete").touch()
    return root


def _digest() -> str:
    """Return a name for the content that the wheel is built from."""
    digest = sha256()
    files = [path for path in (CHECKOUT / "src").rglob("*") if path.is_file()]
    for path in (*(CHECKOUT / name for name in _BUILT_FROM), *sorted(files)):
        if path.suffix != ".pyc":
            digest.update(f"{path.relative_to(CHECKOUT)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(directory: Path) -> Path:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    done = subprocess.run(
        build, cwd=CHECKOUT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = directory.glob("*.whl")
    return found


def _install(wheel: Path, root: Path) -> None:
    """Do what an installer does: unpack, write the console scripts, compile."""
    venv.create(root, with_pip=False, symlinks=True)
    site_packages = _site_packages(root)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    for name, target in _console_scripts(site_packages).items():
        module, _, function = target.partition(":")
        script = root / "bin" / name
        python = root / "bin/python"
        script.write_text(_SCRIPT.format(python=python, module=module, function=function))
        script.chmod(0o755)
    # A directory that a .pth file adds comes last, and its own .pth files do not count: the
    # checkout, which the tests' environment refers to by one, stays out.
    dependencies = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site_packages / "dependencies.pth").write_text("\n".join(dependencies) + "\n")
    compileall.compile_dir(site_packages, quiet=1)


def _site_packages(root: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return root / "lib" / version / "site-packages"


def _console_scripts(site_packages: Path) -> dict[str, str]:
    (listed,) = site_packages.glob("siding_cli-*.dist-info/entry_points.txt")
    found = ConfigParser()
    found.read(listed, encoding="utf-8")
    return dict(found["console_scripts"])
