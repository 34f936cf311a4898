"""The built-in names of a script, and the modules that it may import: without what is not pure.

`format` of texts reads no attribute that leads out of the script.
"""

import builtins
import importlib
import random as real_random
import re
import string
import sys
import time
from collections.abc import Callable
from itertools import count
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from siding.workflows.allowed import (
    MODULES,
    NAMEDTUPLE_ATTRIBUTES,
    REFUSED_NAMES,
    refused_attribute,
)
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


# -- The modules that a script may import ----------------------------------------------------------


class NoClock(Exception):
    """The script asked what time it is."""


class Modules:
    """Gives the modules of one script. `gather` and `sleep` are those of `asyncio`."""

    def __init__(self, gather: Callable[..., Any], sleep: Callable[..., Any]) -> None:
        self._given: dict[str, Any] = {
            "asyncio": SimpleNamespace(gather=gather, sleep=sleep),
            "random": SimpleNamespace(Random=SeededRandom),
        }
        # String annotations of a dataclass are looked up in the module of the class.
        sys.modules.setdefault(MODULE, ModuleType(MODULE))

    def import_(
        self,
        name: str,
        globals_: object = None,
        locals_: object = None,
        names: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        """Do as `__import__` does, for the few modules that there are."""
        if level or name not in MODULES:
            raise ImportError(f"a workflow cannot import {name!r}")
        module = self._module(name)
        outer, _, inner = name.partition(".")
        if not inner or names:
            return module
        around = self._module(outer)
        setattr(around, inner, module)
        return around

    def _module(self, name: str) -> Any:
        if name not in self._given:
            module = _datetime() if name == "datetime" else importlib.import_module(name)
            self._given[name] = _public(module, MODULES[name])
            if name == "functools":
                self._given[name].wraps, self._given[name].update_wrapper = _wraps, _dress
        return self._given[name]


def _public(module: ModuleType, without: frozenset[str]) -> SimpleNamespace:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    shown = {name: getattr(module, name) for name in names if name not in without}
    return SimpleNamespace(**shown)


class SeededRandom(real_random.Random):
    """`random.Random` that has a seed."""

    def __init__(self, seed: float | str | bytes | None = None) -> None:
        super().__init__(seed)

    def seed(self, a: Any = None, version: int = 2) -> None:
        if a is None:
            raise TypeError("random.Random in a workflow takes a seed, such as one of `args`")
        super().seed(a, version)


def _wraps(wrapped: Any, *_: Any, **__: Any) -> Callable[[Any], Any]:
    return lambda wrapper: _dress(wrapper, wrapped)


def _dress(wrapper: Any, wrapped: Any, *_: Any, **__: Any) -> Any:
    """Do as `functools.update_wrapper` does, for the attributes that it takes if none are named."""
    for name in ("__name__", "__qualname__", "__doc__"):
        if hasattr(wrapped, name):
            setattr(wrapper, name, getattr(wrapped, name))
    return wrapper


def _no_clock(*_: object) -> NoReturn:
    raise NoClock(
        "a workflow has no clock and no time zone of its own: pass the time in as an argument of"
        " the run, and give a time zone where one is meant"
    )


def _datetime() -> ModuleType:
    """Return the `datetime` that is written in Python, without the clock below it.

    The one in C reads the clock by itself, and each of its values leads to its classes.
    """
    sys.modules["_datetime"] = None  # type: ignore[assignment]
    sys.modules.pop("datetime", None)
    module = importlib.import_module("datetime")
    written = sys.modules.get("_pydatetime", module)  # its name since Python 3.12
    clock = SimpleNamespace(
        time=_no_clock,
        localtime=_no_clock,
        gmtime=time.gmtime,
        strftime=time.strftime,
        struct_time=time.struct_time,
    )
    written._time = clock  # type: ignore[attr-defined]
    return module
