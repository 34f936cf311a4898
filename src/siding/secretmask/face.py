"""The face of secretmask: the eight names that other packages may import.

Each of them loads its module when it is first asked for, so a program that only wants to know
whether a text is marked loads no rules.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.secretmask.commands import masked_variables, sounds_secret
    from siding.secretmask.names import names_credential
    from siding.secretmask.patterns import pattern
    from siding.secretmask.redactor import Redactor, known_values
    from siding.secretmask.span import is_marked
    from siding.secretmask.stream import Stream
else:

    def __getattr__(name: str) -> object:
        if name not in MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"siding.secretmask.{MODULE_OF[name]}"), name)
        globals()[name] = found
        return found


__all__ = [
    "Redactor",
    "Stream",
    "is_marked",
    "known_values",
    "masked_variables",
    "names_credential",
    "pattern",
    "sounds_secret",
]

MODULE_OF = {
    "Redactor": "redactor",
    "Stream": "stream",
    "is_marked": "span",
    "known_values": "redactor",
    "masked_variables": "commands",
    "names_credential": "names",
    "pattern": "patterns",
    "sounds_secret": "commands",
}
