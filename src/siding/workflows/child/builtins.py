"""The built-in names of a script: Python's, without those that are not pure.

`format` of texts reads no attribute that leads out of the script.
"""

import builtins
import re
import string
from collections.abc import Callable
from itertools import count
from typing import Any

from siding.workflows.allowed import NAMEDTUPLE_ATTRIBUTES, REFUSED_NAMES, refused_attribute
from siding.workflows.child.body import FORMAT_OF, FORMATS

_ATTRIBUTE = re.compile(r"\.([^.\[]+)")
_parse = string.Formatter().parse
MODULE = "workflow"  # what the classes of a script say they are of
_NOT_OURS = {"copyright", "credits", "license", "print", "__debug__", "__doc__", "__name__"}
_numbers = count(1)
_numbered: dict[int, tuple[int, object]] = {}  # by address; whoever is in it stays alive


def format_of(value: Any, name: str) -> Any:
    """Return ``value.format`` or ``value.format_map``; if it is a text's, for fields that may be.

    Raises AttributeError for others.
    """
    if isinstance(value, str):
        _refuse_fields(value)
    elif isinstance(value, type) and issubclass(value, str):
        return lambda text, *words, **names: format_of(text, name)(*words, **names)
    return getattr(value, name)


def _refuse_fields(text: str) -> None:
    for _literal, field, spec, _conversion in _parse(text):
        for attribute in _ATTRIBUTE.findall(field or ""):
            if attribute.startswith("_"):
                raise AttributeError(f"a format in a workflow has no attribute {attribute!r}")
        if spec:
            _refuse_fields(spec)


def names_for(import_: Callable[..., Any], log: Callable[..., None]) -> dict[str, Any]:
    """Return what a script has as ``__builtins__``. What it prints goes to the log."""
    names = {
        name: value
        for name, value in vars(builtins).items()
        if name not in REFUSED_NAMES and name not in _NOT_OURS and not name.startswith("_")
    }
    return {
        **names,
        "__build_class__": _build_class,
        "__import__": import_,
        "__name__": MODULE,
        FORMAT_OF: format_of,
        "print": _printing(log),
        "getattr": _getattr,
        "hasattr": _hasattr,
        "setattr": _setattr,
        "type": _Type,
    }


def _getattr(value: object, name: str, *default: Any) -> Any:
    """Do as `getattr` does, for the attributes that a script may name."""
    _refuse(value, name)
    if name in FORMATS:
        return format_of(value, name)
    return getattr(value, name, *default)


class _Object:
    """What a class of a script without a base is derived from.

    Python's `object` orders instances in a set, and shows them, by where they lie in memory.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return _number_of(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} #{_number_of(self)}>"


def _number_of(thing: object) -> int:
    """Return a number that depends only on which things of the script were asked for it before."""
    if id(thing) not in _numbered:
        _numbered[id(thing)] = (next(_numbers), thing)
    return _numbered[id(thing)][0]


def _build_class(function: Any, name: str, *bases: Any, **options: Any) -> Any:
    given = (_Object,) if bases in {(), (object,)} else bases
    return builtins.__build_class__(function, name, *given, **options)


def _printing(log: Callable[..., None]) -> Callable[..., None]:
    def print_(*words: Any, sep: str | None = " ", **_options: Any) -> None:
        log((" " if sep is None else sep).join(map(str, words)))

    return print_


class _TypeMeta(type):
    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        if len(arguments) != 1 or options:
            raise TypeError("type() in a workflow takes one thing; write a class as `class …`")
        return type(arguments[0])

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)


class _Type(metaclass=_TypeMeta):
    """`type`, without its ``mro`` and ``__subclasses__``."""


def _hasattr(value: object, name: str) -> bool:
    _refuse(value, name)
    return hasattr(value, name)


def _setattr(value: object, name: str, new: Any) -> None:
    _refuse(value, name)
    setattr(value, name, new)


def _refuse(value: object, name: str) -> None:
    """Raise AttributeError for a name that leads out; private ones are for the script's classes."""
    is_refused = type(name) is not str or refused_attribute(name)
    if not is_refused and name.startswith("_") and not name.startswith("__"):
        owner = value if isinstance(value, type) else type(value)
        is_refused = owner.__module__ != MODULE and name not in NAMEDTUPLE_ATTRIBUTES
    if is_refused:
        raise AttributeError(f"a workflow has no attribute {name!r}")
