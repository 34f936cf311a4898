"""Our `NamedTuple` does what `typing.NamedTuple` does, but for the time it takes to define one."""

import copy
import inspect
import pickle
import subprocess
import sys
import threading
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.namedtuples import NamedTuple

T = TypeVar("T")


class Ours(NamedTuple):
    """A class with all that a class can have."""

    number: int
    name: str = "nobody"
    other: "tuple[Ours, ...]" = ()

    @property
    def doubled(self) -> int:
        return self.number * 2

    @classmethod
    def zero(cls) -> "Ours":
        return cls(0)


class Theirs(typing.NamedTuple):
    """A class with all that a class can have."""

    number: int
    name: str = "nobody"
    other: "tuple[Theirs, ...]" = ()

    @property
    def doubled(self) -> int:
        return self.number * 2

    @classmethod
    def zero(cls) -> "Theirs":
        return cls(0)


class OurNothing(NamedTuple):
    pass


class OurBox(NamedTuple, Generic[T]):
    inside: T


class Derived(Ours):
    """A class below one of ours, with a method more."""

    def shout(self) -> str:
        return self.name.upper()


VALUES = st.integers() | st.text(max_size=3) | st.none()
CALLS = st.tuples(
    st.lists(VALUES, max_size=4),
    st.dictionaries(st.sampled_from(["number", "name", "other", "strange"]), VALUES, max_size=3),
)


def outcome(do: Callable[[], Any]) -> Any:
    """What a call returns, as plain values; or its error, without the class's name."""
    try:
        found = do()
    except (TypeError, ValueError) as error:
        return type(error), str(error).replace("Theirs", "Ours")
    return tuple(found), repr(found).replace("Theirs", "Ours"), found._asdict()


@given(CALLS)
def test_it_is_made_and_refused_alike(call: tuple[list[Any], dict[str, Any]]) -> None:
    given_, named = call
    assert outcome(lambda: Ours(*given_, **named)) == outcome(lambda: Theirs(*given_, **named))
    assert outcome(lambda: Ours._make(given_)) == outcome(lambda: Theirs._make(given_))
    assert outcome(lambda: Ours(1)._replace(**named)) == outcome(
        lambda: Theirs(1)._replace(**named)
    )


def test_the_class_says_the_same_of_itself() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    ours, theirs = Ours.__annotations__, Theirs.__annotations__
    assert list(ours) == list(theirs)
    assert (Ours.__module__, Ours.__qualname__) == (__name__, "Ours")
    assert not hasattr(Ours(1), "__dict__")


def test_a_signature_is_known_before_the_first_call() -> None:
    class Fresh(NamedTuple):
        a: int
        b: str = "x"

    assert str(inspect.signature(Fresh)) == "(a, b='x')"
    assert Fresh(1) == (1, "x")


def test_what_tuples_do() -> None:
    one = Ours(1, "a")
    assert tuple(one) == (1, "a", ())
    assert hash(one) == hash((1, "a", ()))
    assert sorted([Ours(2), Ours(1)]) == [Ours(1), Ours(2)]
    number, name, _other = one
    assert (number, name, one.doubled, Ours.zero().number) == (1, "a", 2, 0)
    match one:
        case Ours(number=1, name=found):
            assert found == "a"
        case _:
            pytest.fail("it does not match")
    with pytest.raises(AttributeError):
        one.number = 3  # type: ignore[misc]


def test_copies_and_pickles() -> None:
    one = Ours(1, "a", (Ours(2),))
    for same in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert same == one
        assert type(same) is Ours


def test_classes_without_fields_with_parameters_and_below() -> None:
    assert OurNothing() == ()
    assert OurNothing._fields == ()
    with pytest.raises(TypeError):
        OurNothing(1)  # type: ignore[call-arg]
    box: OurBox[int] = OurBox(3)
    assert OurBox[int](inside=3) == box
    assert (box.inside, repr(box)) == (3, "OurBox(inside=3)")
    below = Derived(1, "low")
    assert (below.shout(), type(below), type(below._replace(name="x"))) == (
        "LOW",
        Derived,
        Derived,
    )


def test_many_threads_make_the_first_one_at_once() -> None:
    for _ in range(50):

        class Fresh(NamedTuple):
            a: int
            b: int = 2

        made: list[Fresh] = []
        start = threading.Barrier(4)

        def make(kind: type[Fresh] = Fresh, start: threading.Barrier = start) -> None:
            start.wait()
            made.append(kind(1))  # noqa: B023  # the threads end within the loop

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [(1, 2)] * 4


def test_a_definition_compiles_nothing() -> None:
    """What makes it cheap: until the first call no code is compiled for the class."""
    script = (
        "import builtins, sys\n"
        "from siding.ground.namedtuples import NamedTuple\n"
        "compiled = []\n"
        "sys.addaudithook(lambda name, _: compiled.append(name) if name == 'compile' else None)\n"
        "class A(NamedTuple):\n    a: int\n    b: str = ''\n"
        "before = len(compiled)\n"
        "A(1)\n"
        "print(before, len(compiled) > before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"exec(compile({script!r}, 'x', 'exec'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 True\n"
