"""Which program is judged by what: one table, by name.

Which programs are agents is known outside the policy: the place a command is judged in says it.
"""

from collections.abc import Callable, Container, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from siding.policy.fields import PrintedText
from siding.policy.names import ordered
from siding.policy.programs import plain, tables
from siding.policy.programs.whereabouts import MODULE_OF

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

Judge = Callable[["Examiner", "Call"], PrintedText]

# Later ones win, and a program with a judge of its own (`whereabouts`) leaves these lists.
_PLAIN: Mapping[str, Judge] = {
    **dict.fromkeys(tables.INERT, plain.inert),
    **dict.fromkeys(tables.READERS, plain.reader),
    **dict.fromkeys(tables.RUNNERS, plain.runner),
}

_SYSTEM_DIRECTORIES = ordered("""
    /bin/ /usr/bin/ /usr/local/bin/ /sbin/ /usr/sbin/ /usr/local/sbin/ /opt/homebrew/bin/
    /opt/local/bin/ /lib/ /lib64/
""")


def known_program(name: str, agents: Container[str]) -> bool:
    """Return whether the policy knows a program of this name."""
    return name in MODULE_OF or name in _PLAIN or name in agents


def _judge_of(name: str, agents: Container[str]) -> Judge | None:
    module = MODULE_OF.get(name)
    if module is None:
        return plain.agent if name in agents else _PLAIN.get(name)
    found: Judge = import_module(f"siding.policy.programs.{module}").JUDGES[name]
    return found


def judge(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge one program by its name, or by where it lies."""
    first = call.words[0]
    name = call.name
    found = _judge_of(name, examiner.place.agents.programs)
    if "/" not in first:
        if found is not None:
            return found(examiner, call)
        if name in examiner.policy.programs:
            return plain.runner(examiner, call)
        return plain.unknown(examiner, call)
    if first.startswith(_SYSTEM_DIRECTORIES) and first.rpartition("/")[0] + "/" in (
        *_SYSTEM_DIRECTORIES,
        "/lib/x86_64-linux-gnu/",
        "/lib/aarch64-linux-gnu/",
    ):
        return found(examiner, call) if found is not None else plain.unknown(examiner, call)
    output = plain.workspace_program(examiner, call)
    if found is not None and found is not plain.runner:
        return found(examiner, call)
    return output
