"""Codes are for one act, once, and for a while."""

from threading import Thread

import pytest

from siding.faces.web.nonces import A_MINUTE, GOOD_FOR_S, Nonces, TooManyCodes, WrongCode


class Shown:
    """A terminal and a clock."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now = 0.0
        self.nonces = Nonces(self.lines.append, now=lambda: self.now)

    def ask(self, **means: object) -> str:
        self.nonces.ask("apply", means, told="apply it")
        return self.lines[-1].rpartition(" ")[2]


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_a_code_is_good_once(shown: Shown) -> None:
    code = shown.ask(task="a")
    shown.nonces.spend("apply", {"task": "a"}, f" {code.upper()} ")
    with pytest.raises(WrongCode):
        shown.nonces.spend("apply", {"task": "a"}, code)


@pytest.mark.parametrize(("act", "task"), [("close", "a"), ("apply", "b")])
def test_a_code_is_for_what_was_shown(shown: Shown, act: str, task: str) -> None:
    code = shown.ask(task="a")
    with pytest.raises(WrongCode):
        shown.nonces.spend(act, {"task": task}, code)


def test_a_code_has_three_tries(shown: Shown) -> None:
    code = shown.ask(task="a")
    for _ in range(3):
        with pytest.raises(WrongCode):
            shown.nonces.spend("apply", {"task": "a"}, "wrong")
    with pytest.raises(WrongCode):
        shown.nonces.spend("apply", {"task": "a"}, code)


def test_a_code_is_good_for_a_while(shown: Shown) -> None:
    code = shown.ask(task="a")
    shown.now = GOOD_FOR_S + 1
    with pytest.raises(WrongCode):
        shown.nonces.spend("apply", {"task": "a"}, code)


def test_the_terminal_is_not_flooded(shown: Shown) -> None:
    for _ in range(A_MINUTE):
        shown.ask(task="a")
    with pytest.raises(TooManyCodes):
        shown.ask(task="a")
    shown.now = 61
    shown.ask(task="a")


def test_two_at_once_with_one_code_are_one(shown: Shown) -> None:
    code = shown.ask(task="a")
    done: list[bool] = []

    def spend() -> None:
        try:
            shown.nonces.spend("apply", {"task": "a"}, code)
            done.append(True)
        except WrongCode:
            done.append(False)

    threads = [Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [*[False] * 7, True]


def test_what_is_told_is_harmless(shown: Shown) -> None:
    shown.nonces.ask("apply", {}, told="apply \x1b[2J\u202e")
    assert "\x1b" not in shown.lines[-1]
    assert "\u202e" not in shown.lines[-1]


def test_the_newest_code_is_the_only_one(shown: Shown) -> None:
    old, new = shown.ask(task="a"), shown.ask(task="a")
    assert old != new
    with pytest.raises(WrongCode):
        shown.nonces.spend("apply", {"task": "a"}, old)
    shown.nonces.spend("apply", {"task": "a"}, new)
