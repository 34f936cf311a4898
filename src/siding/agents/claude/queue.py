"""What a person typed while it worked: the queue that the transcript of Claude Code tells of. Pure.

A prompt that is typed while a turn runs waits in a queue (`enqueue`). The model gets it in the turn
(an attachment `queued_command`), or the next turn begins with it (`dequeue`); the person may take
it into the editor again (`popAll`). Lines as 2.1.197, 2.1.329 and 2.1.332 write them: the older one
does not say in `remove` what was removed.
"""

from collections.abc import Iterable
from contextlib import suppress

from siding.agents.hooks import TypedMeanwhile
from siding.agents.transcripts.messages import queued_prompt
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.fields import text

_OPERATION, _COMMAND = b'"queue-operation"', b'"queued_command"'
_BY_NOBODY = "<task-notification>"  # a shell or a helper in the background has ended


def typed_in(lines: Iterable[bytes]) -> TypedMeanwhile:
    """Return what was typed while a turn ran; `lines` are those since it began."""
    taken: list[str] = []
    begun: list[str] = []
    waiting: list[str] = []
    for line in lines:
        if _OPERATION not in line and _COMMAND not in line:
            continue
        with suppress(NotJson):
            record = parse_object(line)
            got = queued_prompt(record)
            if got:
                taken.append(got)
                _remove(waiting, got)
            elif record.get("type") == "queue-operation":
                _follow(text(record.get("operation")), text(record.get("content")), waiting, begun)
    return TypedMeanwhile(_typed(taken), _typed(begun), _typed(waiting))


def _follow(operation: str, content: str, waiting: list[str], begun: list[str]) -> None:
    if operation == "enqueue":
        waiting.append(content)
    elif operation == "dequeue" and waiting:
        begun.append(waiting.pop(0))
    elif operation in ("remove", "popAll"):
        if content:
            _remove(waiting, content)
        elif operation == "popAll":
            waiting.clear()


def _remove(waiting: list[str], content: str) -> None:
    if content in waiting:
        waiting.remove(content)


def _typed(prompts: Iterable[str]) -> tuple[str, ...]:
    said = (each for each in prompts if each.strip())
    return tuple(each for each in said if not each.lstrip().startswith(_BY_NOBODY))
