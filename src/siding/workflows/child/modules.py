"""The modules that a script may import: what is public in them, without what is not pure."""

import importlib
import random as real_random
import sys
import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from siding.workflows.allowed import MODULES
from siding.workflows.child.builtins import MODULE


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
