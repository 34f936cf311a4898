"""What an agent starts at the end of its turns that was told to for good (`siding integrate`).

    python3 -S -E -I integrated.py AGENT

The agent's words are JSON on standard input. In a repository that Siding knows they are handed to
`siding __report`, which takes a tenth of a second. In a run, whose own hooks report, and anywhere
else this ends at once. Nothing but the interpreter is needed, and nothing is read of it but names.
"""

import os
import sys

_OF_A_RUN = ("SIDING_SOCKET", "SIDING_RUN_ID")


def main(words: "list[str]") -> None:
    """Hand the words over, or leave it."""
    if any(os.environ.get(name) for name in _OF_A_RUN):
        return
    try:
        here = os.getcwd()
        if not _is_known(here):
            return
        # With -m, Python looks for the package in the directory first: not in the agent's.
        os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4))
    except OSError:
        return
    python = [sys.executable, "-m", "siding", "-q", "-C", here, "__report", words[0]]
    os.execv(sys.executable, python)


def _is_known(directory: str) -> bool:
    """Tell whether Siding has given an id to the repository that a directory is in."""
    while True:
        found = os.path.join(directory, ".git")
        if os.path.lexists(found):
            return os.path.exists(os.path.join(_common(found), "siding", "id"))
        above = os.path.dirname(directory)
        if above == directory:
            return False
        directory = above


def _common(found: str) -> str:
    """Return the directory that a repository's worktrees share, for the `.git` of one of them."""
    if os.path.isdir(found):
        return found
    git_dir = os.path.join(os.path.dirname(found), _line(found).partition("gitdir:")[2].strip())
    try:
        return os.path.join(git_dir, _line(os.path.join(git_dir, "commondir")))
    except OSError:
        return git_dir


def _line(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.readline(4096).strip()


if __name__ == "__main__":
    main(sys.argv[1:])
