"""Identifiers. Pure: randomness is passed in."""

from collections.abc import Callable
from typing import NewType

TaskId = NewType("TaskId", str)
StepId = NewType("StepId", str)
Sha = NewType("Sha", str)

TASK_ID_LENGTH = 8
# No "-" and "_" (an id that starts with one cannot be an argument) and no look-alikes.
TASK_ID_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def new_task_id(random_bytes: Callable[[int], bytes]) -> TaskId:
    """Return eight characters of `TASK_ID_ALPHABET`, each equally likely."""
    size = len(TASK_ID_ALPHABET)
    limit = 256 - 256 % size  # bytes at or over it would favour the alphabet's first letters
    letters: list[str] = []
    while len(letters) < TASK_ID_LENGTH:
        letters += [TASK_ID_ALPHABET[byte % size] for byte in random_bytes(16) if byte < limit]
    return TaskId("".join(letters[:TASK_ID_LENGTH]))


FORK_PREFIX = "fork-"


def new_fork_id(random_bytes: Callable[[int], bytes]) -> TaskId:
    """Return an id for a task of a group: no task of the board has one of this form."""
    return TaskId(FORK_PREFIX + new_task_id(random_bytes))


def is_fork(task_id: str) -> bool:
    """Tell whether an id is that of a task of a group."""
    letters = task_id.removeprefix(FORK_PREFIX)
    return (
        task_id.startswith(FORK_PREFIX)
        and len(letters) == TASK_ID_LENGTH
        and set(TASK_ID_ALPHABET).issuperset(letters)
    )


def new_act_id(random_bytes: Callable[[int], bytes]) -> str:
    """Return an id that no other act has: "a" and twelve hexadecimal digits, so no number."""
    return f"a{random_bytes(6).hex()}"


def is_act_id(name: str) -> bool:
    """Tell whether a name is the id of an act."""
    digits = name.removeprefix("a")
    return name != digits and len(digits) == 12 and set("0123456789abcdef").issuperset(digits)


def step_id(number: int) -> StepId:
    """Return the step's name: four digits, growing past 9999."""
    assert number > 0, number
    return StepId(f"{number:04d}")


def run_or_step(name: str) -> str:
    """Return ``run r7`` or ``step 0007`` for an id, which may have its task in front of it.

    Documents that name the step in progress hold the id of a run; those of earlier versions hold
    the number that the step was expected to get.
    """
    own = name.rpartition("/")[2]
    return f"run {name}" if own.startswith("r") else f"step {name}"


def step_number(step: str) -> int:
    """Return the number in a step id; raises ValueError when there is none.

    Accepts what people type: ``7``, ``0007``, ``#7``.
    """
    digits = step.removeprefix("#")
    if not digits.isascii() or not digits.isdigit() or int(digits) == 0:
        raise ValueError(step)
    return int(digits)
