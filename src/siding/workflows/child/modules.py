"""The modules that a script may import: what is public in them, without what is not pure."""

import datetime as dt
import importlib
import random as real_random
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn, Self

from siding.workflows.allowed import MODULES


class NoClock(Exception):
    """The script asked what time it is."""


class Modules:
    """Gives the modules of one script. `gather` and `sleep` are those of `asyncio`."""

    def __init__(self, gather: Callable[..., Any], sleep: Callable[..., Any]) -> None:
        self._given: dict[str, Any] = {
            "asyncio": SimpleNamespace(gather=gather, sleep=sleep),
            "datetime": _datetime(),
            "random": SimpleNamespace(Random=SeededRandom),
        }

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
            self._given[name] = _public(importlib.import_module(name), MODULES[name])
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

    def __init__(self, seed: float | str | bytes) -> None:
        if seed is None:
            raise TypeError("random.Random() in a workflow takes a seed, such as one of `args`")
        super().__init__(seed)


def _no_clock(*_: object, **__: object) -> NoReturn:
    raise NoClock("a workflow has no clock: pass the time in as an argument of the run")


class _Date(dt.date):
    @classmethod
    def today(cls) -> NoReturn:
        _no_clock()

    @classmethod
    def fromtimestamp(cls, timestamp: float, /) -> NoReturn:
        raise NoClock(
            "date.fromtimestamp() depends on the machine's time zone; give a datetime one"
        )


class _DateTime(dt.datetime):
    @classmethod
    def now(cls, tz: object = None) -> NoReturn:
        _no_clock()

    @classmethod
    def utcnow(cls) -> NoReturn:
        _no_clock()

    @classmethod
    def today(cls) -> NoReturn:
        _no_clock()

    @classmethod
    def fromtimestamp(cls, timestamp: float, tz: dt.tzinfo | None = None) -> Self:
        if tz is None:
            raise NoClock("datetime.fromtimestamp() in a workflow takes a time zone")
        return super().fromtimestamp(timestamp, tz)

    def timestamp(self) -> float:
        if self.tzinfo is None:
            raise NoClock("timestamp() of a datetime without a time zone depends on the machine's")
        return super().timestamp()

    def astimezone(self, tz: dt.tzinfo | None = None) -> Self:
        if tz is None or self.tzinfo is None:
            raise NoClock("astimezone() in a workflow takes a time zone, and so does its datetime")
        return super().astimezone(tz)


def _datetime() -> SimpleNamespace:
    shown = {name: getattr(dt, name) for name in dt.__all__}
    _DateTime.__name__, _Date.__name__ = "datetime", "date"
    return SimpleNamespace(**{**shown, "datetime": _DateTime, "date": _Date})
