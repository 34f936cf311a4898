"""Limits on a run: its output, memory, number of processes, and growth on the disk.

Output is counted as it comes. The rest is sampled, because the kernel offers an ordinary user no
limit for a whole tree of processes: setrlimit(2) counts per process or per user, and a control
group must have been delegated by root. So a run can exceed a limit by what it takes between two
samples. It is ended then; nothing it did is lost. Where a control group was delegated, a sandboxed
run has one of its own (`sandbox.cgroup`) beside the samples.
"""

from typing import Protocol

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

LIMIT_EXIT_CODE = 125  # as `git bisect run` has it: neither good nor bad, it cannot be told


class Limits(NamedTuple):
    """The limits of a run; None is no limit. Sizes are in bytes.

    ``disk`` is how much the workspace may grow.
    """

    output: int | None = None
    memory: int | None = None
    processes: int | None = None
    disk: int | None = None

    @property
    def sampled(self) -> bool:
        """Whether any limit has to be sampled while the command runs."""
        return (self.memory, self.processes, self.disk) != (None, None, None)


class Breach(NamedTuple):
    """The name of a limit that was passed, its value, and the amount that was seen.

    ``by_kernel``: the kernel enforced it before a sample saw more than is allowed.
    """

    what: str
    allowed: int
    seen: int
    by_kernel: bool = False

    @property
    def sentence(self) -> str:
        if self.by_kernel and self.what == "memory":
            much = f"{self.allowed} bytes of memory"
            return f"it wanted more than the {much} that it may have: the kernel refused"
        if self.by_kernel:  # the kernel counts threads
            most = counted(self.allowed, "process", "processes")
            many = f"{self.seen} processes and threads, and may have {most}"
            return f"it wanted more than {many}: the kernel refused"
        if self.what == "processes":
            return (
                f"it had {counted(self.seen, 'process', 'processes')}, and may have {self.allowed}"
            )
        took = {"output": "wrote", "memory": "took", "disk": "made the workspace grow by"}
        return (
            f"it {took[self.what]} {self.seen} bytes, and may {_ALLOWED[self.what]}{self.allowed}"
        )


_ALLOWED = {"output": "write ", "memory": "take ", "disk": "add "}


class KernelLimits(Protocol):
    """Limits that the kernel enforces for a whole run."""

    def breach(self) -> Breach | None:
        """Return the limit at which the kernel killed or refused a process of the run."""
