"""No module uses a name that Python lacks on macOS, but for those that only Linux runs."""

import re
from pathlib import Path

import siding

SOURCE = Path(siding.__file__).parent
# As typeshed has them for other platforms than "darwin"; `waitid` is there from Python 3.13 on.
LINUX_ONLY = re.compile(
    r"\bos\.(pipe2|waitid|pidfd_open|memfd_create|MFD_\w+|O_PATH|O_TMPFILE|O_DIRECT|eventfd|splice|"
    r"copy_file_range|posix_fadvise|posix_fallocate|fdatasync|sched_\w+affinity|\w+xattr|P_PIDFD|"
    r"getrandom|unshare|setns|\w+resuid|EBADFD)\b"
    r"|\bselect\.epoll\b|\bsignal\.(pidfd_send_signal|SIGRTM\w+|sigtimedwait)\b"
    r"|\bfcntl\.(F_SETPIPE_SZ|F_SETLEASE|F_SETSIG|F_OFD_\w+)\b"
    r"|\btime\.CLOCK_BOOTTIME\b|\bAF_NETLINK\b"
)
LINUX = "nothing else loads it, or it asks for the platform first"
ASKS = "it asks whether the name is there, or goes on without"
EXCUSED = {
    "sandbox/engines/bwrap.py": LINUX,
    "sandbox/engines/cgroup.py": LINUX,
    "sandbox/engines/kernel.py": LINUX,
    "sandbox/wire/ends.py": LINUX,
    "ground/process/procfs.py": LINUX,
    "ground/process/keeper/forking.py": LINUX,
    "ground/process/keeper/program.py": LINUX,
    "ground/process/control/frames.py": LINUX,
    "ground/process/spawn.py": LINUX,
    "ground/files/attributes.py": LINUX,
    "ground/process/broker/door.py": ASKS,
    "ground/process/broker/follow.py": ASKS,
    "ground/process/broker/lookout.py": ASKS,
    "ground/process/job.py": ASKS,
    "ground/process/output/files.py": ASKS,
    "feed/ends.py": ASKS,
    "record/recording/difference.py": ASKS,
    "assistant/tools/files/contents.py": ASKS,
}


def test_names_that_macos_lacks_are_used_where_they_are_excused() -> None:
    using = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(
            LINUX_ONLY.search(line.partition("#")[0])
            for line in path.read_text("utf-8").splitlines()
        )
    }
    assert using == set(EXCUSED)
