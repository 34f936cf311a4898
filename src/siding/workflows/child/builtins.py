"""The built-in names of a script: Python's, without those that are not pure."""

import builtins
from collections.abc import Callable
from typing import Any

from siding.workflows.allowed import REFUSED_NAMES, refused_attribute

_NOT_OURS = {"copyright", "credits", "license", "print", "__debug__", "__doc__", "__name__"}


def names_for(import_: Callable[..., Any], log: Callable[..., None]) -> dict[str, Any]:
    """Return what a script has as ``__builtins__``. What it prints goes to the log."""
    names = {
        name: value
        for name, value in vars(builtins).items()
        if name not in REFUSED_NAMES and name not in _NOT_OURS and not name.startswith("_")
    }
    return {
        **names,
        "__build_class__": builtins.__build_class__,
        "__import__": import_,
        "__name__": "workflow",
        "print": _printing(log),
        "getattr": _getattr,
        "hasattr": _hasattr,
        "setattr": _setattr,
        "type": _Type,
    }


def _printing(log: Callable[..., None]) -> Callable[..., None]:
    def print_(*words: Any, sep: str | None = " ", **_options: Any) -> None:
        log((" " if sep is None else sep).join(map(str, words)))

    return print_


class _TypeMeta(type):
    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return type(*arguments, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)


class _Type(metaclass=_TypeMeta):
    """`type`, without its ``mro`` and ``__subclasses__``."""


def _getattr(value: object, name: str, *default: Any) -> Any:
    return getattr(value, _checked(name), *default)


def _hasattr(value: object, name: str) -> bool:
    return hasattr(value, _checked(name))


def _setattr(value: object, name: str, new: Any) -> None:
    setattr(value, _checked(name), new)


def _checked(name: str) -> str:
    if type(name) is not str or refused_attribute(name):
        raise AttributeError(f"a workflow has no attribute {name!r}")
    return name
