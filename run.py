#!/usr/bin/env python3
"""Set up and go: ``python3 run.py demo`` or ``python3 run.py test``.

Needs Python 3.11 or newer, pip and git. Everything is installed into ``.venv`` beside this file.
The tests also want a browser, bubblewrap, zsh, fish, vim, tmux and less; as root on Debian, as in
CI, they are installed, and elsewhere the tests that need a missing one are skipped. Coding agents
are installed into ``.venv`` if npm is there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
IN_MEMORY = Path("/dev/shm")
FEW_STALE = 40  # modules of tests; compiling so many takes half a second
LEAST_ROOM = 2 << 30  # bytes; the tests have used a tenth of it at most
# A test that takes 120 s is ended by pytest; some gates may take longer, on a busy machine.
SILENT_S = 900
PIP = [sys.executable, "-m", "pip", "--python", str(PYTHON), "--disable-pip-version-check"]
STAMP = VENV / "siding-setup.sha256"
# What the package was called before it was `siding-cli`. Both have the same programs.
FORMER_NAME = "siding"
# program -> Debian package
TEST_PROGRAMS = {
    "bwrap": "bubblewrap",
    **{name: name for name in ("chromium", "zsh", "fish", "jq", "vim", "tmux", "screen", "less")},
}
# Its package starts a server for the network, where services are run at all.
if not Path("/run/systemd/system").exists():
    TEST_PROGRAMS["sshd"] = "openssh-server"

# Coding agents, as packages of npm: the tests run them against a model server of their own.
TEST_AGENTS = {
    "claude": "@anthropic-ai/claude-code@2.1.329",
    "codex": "@openai/codex@0.169.0",
    "ccusage": "ccusage@20.0.24",
    "ccstatusline": "ccstatusline@2.2.30",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
}
AGENTS = VENV / "agents"
# Clients of the Agent Client Protocol that drive `siding acp`: 53 MB, Apache-2.0 and MIT.
TEST_EDITORS = {
    "@agentclientprotocol/sdk": "@agentclientprotocol/sdk@2.4.0",
    "acpx": "acpx@0.19.1",
}
EDITORS = VENV / "editors"
# Drives Siding's own agent in the tests. Built from its source: its wheel brings Claude Code along.
TEST_CLIENT = "claude-agent-sdk"
TEST_CLIENT_VERSION = "0.2.189"


def _has_room_in_memory() -> bool:
    try:
        there = os.statvfs(IN_MEMORY)
        known = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return False
    available = next(int(line.split()[1]) << 10 for line in known if "MemAvailable" in line)
    return min(there.f_bavail * there.f_frsize, available) >= LEAST_ROOM


def _workers() -> int:
    """Return how many tests run at once: one more than processors, since many of them wait."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)


# These run side by side: each is one process, and the tests alone fill all processors.
CHECKS: "list[tuple[str, list[str]]]" = [
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    ("imports", ["-c", "from importlinter.cli import lint_imports_command as c; c()"]),
    # Compiles the tests once; each of the processes that run them would do it at the same time. The
    # last one: it is left out where there is little to compile.
    ("collection", ["-m", "pytest", "-qq", "--collect-only", "--no-summary"]),
]
TESTS = ["-m", "pytest", "-q", "--dist", "worksteal", "-n", str(_workers())]


def main(words: "list[str]") -> int:
    """Run one of the two commands; return its exit status."""
    if sys.version_info < (3, 11):
        return _fail("Siding needs Python 3.11 or newer; this is " + sys.version.split()[0])
    if words[:1] == ["demo"] and len(words) == 1:
        _set_up(development=False)
        return _python([str(HERE / "examples" / "demo.py")])
    if words[:1] == ["test"]:
        _set_up(development=True)
        _install_test_programs()
        _install_test_agents()
        _install_test_client()
        _compile()
        return _test(words[1:])
    if words[:1] == ["bench"]:
        _set_up(development=True)
        return _python(["-m", "benchmarks", *words[1:]])
    if words[:1] == ["prove"]:
        _set_up(development=True)
        _install_test_programs()
        _install_test_client()
        _compile()
        _use_memory()
        return _python(["-m", "prove", *words[1:]], stdin=subprocess.DEVNULL)
    print(__doc__)
    print("  python3 run.py demo    make a sample repository, work on it, show what happened")
    print("  python3 run.py test    lint, types, import contract, tests   [pytest arguments]")
    print("  python3 run.py prove   the heavy proofs, as a table          [--help]")
    print("  python3 run.py bench   the benchmarks, as ratios             [--help]")
    return 2


def _test(pytest_arguments: "list[str]") -> int:
    _use_memory()
    compiles = not pytest_arguments and _stale_tests() > FEW_STALE  # few tests may need none
    chosen = CHECKS if compiles else CHECKS[:-1]
    running = {name: _start_quietly(command) for name, command in chosen}
    types = running.pop("types")  # takes longest, by one processor: the tests need not wait for it
    failed = [name for name, process in running.items() if not _ended_well(name, process)]
    if failed:
        types.kill()
        return _fail(f"{' and '.join(failed)} failed")
    print("== tests", flush=True)
    failed = [] if _tests_end_well(pytest_arguments) else ["tests"]
    failed += [] if _ended_well("types", types) else ["types"]
    return _fail(f"{' and '.join(failed)} failed") if failed else 0


def _stale_tests() -> int:
    """Count the modules of tests that pytest has not compiled since they were written."""
    tag = f".{sys.implementation.cache_tag}-pytest-"
    count = 0
    for source in (HERE / "tests").rglob("test_*.py"):
        compiled = (source.parent / "__pycache__").glob(f"{source.stem}{tag}*.pyc")
        written = source.stat().st_mtime
        count += all(each.stat().st_mtime < written for each in compiled)
    return count


def _tests_end_well(pytest_arguments: "list[str]") -> bool:
    """Run the tests; if they hang, say where, and end them."""
    from prove.supervise import never_silent_for, supervise

    colored = ["--color=yes"] if sys.stdout.isatty() else []
    ended = supervise(
        [str(PYTHON), *TESTS, *colored, *pytest_arguments],
        cwd=HERE,
        env=_environment(),
        late=never_silent_for(SILENT_S),
        shown=sys.stdout.buffer,
    )
    if ended.late:
        _fail(ended.late)
    return ended.status == 0


def _use_memory() -> None:
    if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _has_room_in_memory():
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(IN_MEMORY)  # flushing costs nothing there
    # Where Python is told to write no bytecode, each of those processes would compile all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _start_quietly(arguments: "list[str]") -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [str(PYTHON), *arguments],
        cwd=HERE,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _ended_well(name: str, process: "subprocess.Popen[bytes]") -> bool:
    """Wait for a check and print what it said, all at once; that of a collection if it failed."""
    said, _ = process.communicate()
    print(f"== {name}", flush=True)
    if name != "collection" or process.returncode != 0:
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()
    return process.returncode == 0


def _set_up(*, development: bool) -> None:
    """Make ``.venv`` hold the package and, for development, its tools; nothing if it does."""
    wanted = _wanted(development)
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() in wanted:
        return
    print("setting up .venv (once) ...", flush=True)
    # Without ensurepip, which Debian's Python lacks; the pip that runs us installs into it.
    venv.create(VENV, with_pip=False, symlinks=True)
    _uninstall_former_name()
    requirements = [f"-e{HERE}", *(_development_requirements() if development else [])]
    result = subprocess.run([*PIP, "install", "--quiet", *requirements], check=False)
    if result.returncode != 0:
        sys.exit(_fail("pip could not install the requirements; its message is above"))
    STAMP.write_text(wanted[0])


def _uninstall_former_name() -> None:
    """Remove it before the new one is installed; after that, this would remove its programs."""
    if not any(VENV.glob(f"lib/python*/site-packages/{FORMER_NAME}-*.dist-info")):
        return
    words = ["uninstall", "--quiet", "--yes", FORMER_NAME]
    if subprocess.run([*PIP, *words], check=False).returncode != 0:
        sys.exit(_fail(f"pip could not uninstall {FORMER_NAME}; its message is above"))


def _install_test_programs() -> None:
    """Install the programs some tests need, where that is ours to do: root, with apt-get."""
    missing = [package for name, package in TEST_PROGRAMS.items() if shutil.which(name) is None]
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print("installing", *missing, "...", flush=True)
    if not _apt_get("install", "-y", "--no-install-recommends", *missing):
        _apt_get("update")
        _apt_get("install", "-y", "--no-install-recommends", *missing)


def _install_test_agents() -> None:
    """Install the agents that some tests run; without npm, or if it fails, those are skipped."""
    _install_by_npm([p for name, p in TEST_AGENTS.items() if not _agent(name).exists()], AGENTS)
    there = EDITORS / "node_modules"
    _install_by_npm([p for name, p in TEST_EDITORS.items() if not (there / name).exists()], EDITORS)


def _install_by_npm(missing: "list[str]", place: Path) -> None:
    if not missing or shutil.which("npm") is None:
        return
    print("installing", *missing, "...", flush=True)
    npm = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", str(place)]
    # A home of its own: npm and what the packages run as they are installed write there.
    env = {
        **os.environ,
        "HOME": str(place),
        "npm_config_update_notifier": "false",
        "npm_config_userconfig": str(Path.home() / ".npmrc"),  # where the packages are, say
    }
    place.mkdir(exist_ok=True)
    if subprocess.run([*npm, *missing], env=env, check=False).returncode != 0:
        print("npm could not install them: the tests with them are skipped")


def _install_test_client() -> None:
    """Install the client of the stream of JSON; if that fails, its tests are skipped."""
    wanted = f"{TEST_CLIENT}=={TEST_CLIENT_VERSION}"
    here = f"claude_agent_sdk-{TEST_CLIENT_VERSION}.dist-info"
    if any(VENV.glob(f"lib/python*/site-packages/{here}")):
        return
    # What it needs is there for other reasons.
    words = ["install", "--quiet", "--no-deps", "--no-binary", TEST_CLIENT, wanted]
    if subprocess.run([*PIP, *words], check=False).returncode != 0:
        print(f"pip could not install {wanted}: the tests with it are skipped")


def _agent(name: str) -> Path:
    return AGENTS / "node_modules" / ".bin" / name


def _compile() -> None:
    """Compile the package, also where Python is told to write no bytecode.

    There, each of the hundreds of times that a test starts `siding` would compile it again.
    """
    _python(["-m", "compileall", "-q", "-j", "0", str(HERE / "src")])


def _apt_get(*words: str) -> bool:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-qq", *words]
    return subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False).returncode == 0


def _wanted(development: bool) -> "list[str]":
    """Return the stamps that satisfy this set-up, the one to write first."""
    what = hashlib.sha256((HERE / "pyproject.toml").read_bytes() + str(HERE).encode()).hexdigest()
    return [what + " dev"] if development else [what, what + " dev"]


def _development_requirements() -> "list[str]":
    import tomllib

    groups = tomllib.loads((HERE / "pyproject.toml").read_text())["dependency-groups"]
    return [str(requirement) for requirement in groups["dev"]]


def _python(arguments: "list[str]", stdin: "int | None" = None) -> int:
    command = [str(PYTHON), *arguments]
    return subprocess.run(
        command, cwd=HERE, env=_environment(), stdin=stdin, check=False
    ).returncode


def _environment() -> "dict[str, str]":
    return {**os.environ, "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


def _fail(message: str) -> int:
    print("run.py: " + message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
