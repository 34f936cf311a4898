"""Take the right to write away from a worktree that many read."""

import os
import stat
from pathlib import Path

_WRITE = 0o222


def make_read_only(root: Path) -> None:
    """Take it from all files and directories below, and from the root: 0555 and 0444 as a rule.

    Links are not followed. It is a hint outside of a sandbox: the owner can undo it, and root does
    not heed it. So what is read is checked afterwards.
    """
    for directory, _names, files, fd in os.fwalk(os.fsencode(root), topdown=False):
        for name in files:
            mode = os.lstat(name, dir_fd=fd).st_mode
            if stat.S_ISREG(mode) and mode & _WRITE:
                os.chmod(name, stat.S_IMODE(mode) & ~_WRITE, dir_fd=fd)
        mode = os.fstat(fd).st_mode
        if mode & _WRITE:
            os.fchmod(fd, stat.S_IMODE(mode) & ~_WRITE)
        del directory
