"""Which program is judged by what: one table, by name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from siding.policy.fields import Output
from siding.policy.programs import (
    code,
    databases,
    editing,
    files,
    git,
    network,
    packages,
    plain,
    remote,
    shells,
    system,
    tables,
)

if TYPE_CHECKING:
    from siding.policy.examiner import Call, Examiner

Judge = Callable[["Examiner", "Call"], Output]

# Later ones win: a program with a judge of its own leaves the plain lists.
_JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(tables.INERT, plain.inert),
    **dict.fromkeys(tables.READERS, plain.reader),
    **dict.fromkeys(tables.RUNNERS, plain.runner),
    **dict.fromkeys(tables.AGENTS, plain.agent),
    **system.JUDGES,
    **remote.JUDGES,
    **databases.JUDGES,
    **packages.JUDGES,
    **network.JUDGES,
    **files.JUDGES,
    **code.JUDGES,
    **editing.JUDGES,
    **git.JUDGES,
    **shells.JUDGES,
}

_SYSTEM_DIRECTORIES = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/",
                       "/usr/local/sbin/", "/opt/homebrew/bin/", "/opt/local/bin/", "/lib/",
                       "/lib64/")  # fmt: skip


def known_program(name: str) -> bool:
    """Return whether the policy knows a program of this name."""
    return name in _JUDGES


def judge(examiner: "Examiner", call: "Call") -> Output:
    """Judge one program by its name, or by where it lies."""
    first = call.words[0]
    name = call.name
    found = _JUDGES.get(name)
    if "/" not in first:
        if found is not None:
            return found(examiner, call)
        if name in examiner.policy.programs:
            return plain.runner(examiner, call)
        return plain.unknown(examiner, call)
    if first.startswith(_SYSTEM_DIRECTORIES) and first.rpartition("/")[0] + "/" in (
        *_SYSTEM_DIRECTORIES, "/lib/x86_64-linux-gnu/", "/lib/aarch64-linux-gnu/"
    ):  # fmt: skip
        return found(examiner, call) if found is not None else plain.unknown(examiner, call)
    output = plain.workspace_program(examiner, call)
    if found is not None and found is not plain.runner:
        return found(examiner, call)
    return output
