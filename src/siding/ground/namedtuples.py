"""A `NamedTuple` like `typing.NamedTuple` that costs a tenth of the time to define.

A command defines up to 130 of these classes and uses few of them. With the standard library each
takes 130 µs, most of it for compiling ``__new__`` and checking annotations (Python 3.11); that was
a seventh of a ``siding run``. Here ``__new__`` is compiled when the class is first called or
inspected, and annotations are not checked, because mypy does that. Everything else is the same, so
type checkers are told that it is `typing.NamedTuple`.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 14):  # 3.14 keeps annotations in another form
    from typing import NamedTuple as NamedTuple
else:
    from collections.abc import Iterable
    from typing import Self

    try:
        from _collections import _tuplegetter as _field  # what `collections.namedtuple` uses
    except ImportError:
        from operator import itemgetter

        def _field(index: int, _doc: str) -> property:
            return property(itemgetter(index))

    def _compiled(owner: type) -> Any:
        """Return the ``__new__`` of a class: it takes the fields, by position or by name."""
        fields = ", ".join(owner._fields)
        source = f"lambda _cls, {fields}: _new(_cls, ({fields}{',' if fields else ''}))"
        new = eval(source, {"_new": tuple.__new__, "__builtins__": {}})  # names of fields only
        new.__name__ = "__new__"
        new.__qualname__ = f"{owner.__qualname__}.__new__"
        new.__defaults__ = tuple(owner._field_defaults.values()) or None
        return new

    def _compile(cls: type) -> type:
        """Give the class that has the fields its own ``__new__``; return this class."""
        owner: type = next(each for each in cls.__mro__ if "_fields" in each.__dict__)
        owner.__new__ = staticmethod(_compiled(owner))
        return owner

    def _first_call(cls: type, /, *values: object, **named: object) -> Any:
        return _compile(cls).__new__(cls, *values, **named)

    class _Signature:
        """`inspect.signature` asks for ``__signature__`` first, and reads ``__new__`` on None."""

        def __get__(self, _instance: object, owner: type) -> None:
            _compile(owner)

    class _Fields(tuple[Any, ...]):
        """The methods that every class has."""

        __slots__ = ()
        __signature__ = _Signature()

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **named: object) -> Self:
            made = self._make(map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"Got unexpected field names: {list(named)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        __replace__ = _replace

    class _Definition(type):
        """Turns a class statement with `NamedTuple` among its bases into a class of tuples."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            body.update(
                {field: _field(index, "") for index, field in enumerate(fields)},
                __slots__=(),
                __new__=_first_call,
                __match_args__=fields,
                _fields=fields,
                _field_defaults=defaults,
            )
            return type(name, tuple(_Fields if base is _MARK else base for base in bases), body)

    _MARK = type.__new__(_Definition, "NamedTuple", (), {})

    class _NamedTuple:
        def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type, ...]:
            return (_MARK,)

    NamedTuple = _NamedTuple()
