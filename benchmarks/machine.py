"""What the machine was, and what else it did."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def facts(directory: Path) -> dict[str, str]:
    """Return what the numbers depend on, in words."""
    return {
        "processor": f"{os.cpu_count()} x {_processor()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "file system": f"{_file_system(directory)} ({directory})",
        "python": sys.version.split()[0],
        "git": _git_version(),
        "load": " ".join(f"{each:.1f}" for each in os.getloadavg()),
    }


def shown(found: Mapping[str, str]) -> str:
    """Return the facts as one paragraph."""
    return "; ".join(f"{name} {value}" for name, value in found.items())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _file_system(directory: Path) -> str:
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    found = ("", "unknown")
    for line in lines:
        before, _, after = line.partition(" - ")
        point = before.split()[4].replace("\\040", " ")
        if directory.is_relative_to(point) and len(point) >= len(found[0]):
            found = (point, after.split()[0])
    return found[1]


def _git_version() -> str:
    done = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.removeprefix("git version ").strip()
