"""What of the context is other than the model was told, as a message for it."""

from collections.abc import Mapping
from pathlib import Path

from siding.assistant.loop.context.files import InstructionFile, Instructions
from siding.assistant.loop.context.texts import file_text, harmless, name_of, reminder

Known = Mapping[Path, InstructionFile]  # by the paths where they are


def changes_text(known: Known, now: Instructions, *, told_day: str, day: str) -> str:
    """Return what changed since the model was told; "" for nothing."""
    current = {each.path: each for each in now.files}
    changed = [each for path, each in current.items() if not _is_same(known.get(path), each)]
    gone = [each for path, each in known.items() if path not in current]
    parts = []
    if changed:
        parts.append(
            "Instruction files were changed, by a person or by a command. They count as they are "
            "now, and what was said of them before does not:"
        )
        parts += map(file_text, changed)
    if gone:
        names = ", ".join(harmless(name_of(each.name)) for each in gone)
        parts.append(f"These instruction files are gone and count no more: {names}")
    if day != told_day:
        parts.append(f"The date is now {day}.")
    return reminder(parts)


def _is_same(before: InstructionFile | None, now: InstructionFile) -> bool:
    return before is not None and (before.text, before.is_cut) == (now.text, now.is_cut)
