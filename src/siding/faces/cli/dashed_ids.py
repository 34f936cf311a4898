"""Let ids of tasks that begin with "-" be arguments. Another tool makes such ids; Siding does not.

argparse takes a word that begins with "-" for an option. So a word that is the id of a task gets a
blank before it, which argparse leaves alone, and loses it once the line is parsed.
"""

import re
from argparse import Namespace

from siding.faces.cli.globals import context_from
from siding.ground.errors import SidingError
from siding.record.place.project import find_project

# That tool makes eight characters; somebody may have made others by hand. Shorter words are short
# options, and those that begin with "--" long ones.
_LIKE_AN_ID = re.compile(r"-[A-Za-z0-9_][A-Za-z0-9_-]{2,62}")


def shield_ids(words: list[str], flags: dict[str, object]) -> list[str]:
    """Return the arguments of a verb with a blank before each id of a task that begins with "-".

    `flags` stood before the verb. What comes after ``--`` is left as it is.
    """
    end = words.index("--") if "--" in words else len(words)
    if not any(_LIKE_AN_ID.fullmatch(word) for word in words[:end]):
        return words
    ids = _ids(flags)
    return [f" {word}" if word in ids else word for word in words[:end]] + words[end:]


def unshield_ids(parsed: Namespace, words: list[str]) -> None:
    """Take the blanks away from the values of a parsed line; `words` came from `shield_ids`."""
    ids = {word for word in words if word.startswith(" ") and _LIKE_AN_ID.fullmatch(word[1:])}
    for name, value in vars(parsed).items() if ids else []:
        if isinstance(value, list):
            setattr(parsed, name, [each[1:] if each in ids else each for each in value])
        elif isinstance(value, str) and value in ids:
            setattr(parsed, name, value[1:])


def _ids(flags: dict[str, object]) -> set[str]:
    try:
        project = find_project(context_from(Namespace(**flags)).app)
    except (SidingError, OSError):
        return set()  # the verb says what is wrong
    return set() if project is None else set(project.tasks.ids())
