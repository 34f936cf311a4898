"""Linux: the threads of processes: their states, and the children that they started."""

import os

from siding.ground.process.procfs import all_processes

# The states of a thread (proc(5)) in which it runs no code of its program.
HALTED = frozenset("TtZX")
IN_KERNEL = "D"  # it cannot be interrupted, and halts before it returns to its program


def thread_states(pid: int) -> str:
    """Return the state of each thread of a process, a letter each; "" if it is gone."""
    return "".join(map(_state, _threads(pid)))


def is_stopped(pid: int) -> bool:
    """Tell whether a process was stopped by a signal, and not by a debugger."""
    return _state(f"/proc/{pid}") == "T"


def children_of(pid: int) -> list[int]:
    """Return the pids of a process's children. The list is exact only while the process halts."""
    found: list[int] = []
    for thread in _threads(pid):
        try:
            with open(f"{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read(1 << 20).split())
        except FileNotFoundError:
            if os.path.exists(thread):  # the kernel has no CONFIG_PROC_CHILDREN
                return [each.pid for each in all_processes().values() if each.parent == pid]
        except OSError:
            continue
    return found


def _threads(pid: int) -> list[str]:
    place = f"/proc/{pid}/task"
    try:
        return [f"{place}/{name}" for name in os.listdir(place)]
    except OSError:
        return []


def _state(place: str) -> str:
    """Return the letter of a process or thread; "" if it is gone."""
    try:
        with open(f"{place}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return ""
    after_name = line.rfind(b")") + 2
    return line[after_name : after_name + 1].decode("ascii", "replace")
