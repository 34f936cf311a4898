"""What a terminal sends, cut anywhere, becomes the same keys, pastes and replies each time."""

import random
import re
from collections.abc import Iterable

import pytest

from siding.faces.tui.input import Filter, Pasted, Piece, Pressed, Reply, Sequence

E = "\x1b"
_KEYS = re.compile(
    r"\x1b\[(?:[ABCDHFIO]|[0-9;]*[~u]|1;[0-9]+[A-HPQRS]|<[0-9;]+[Mm]|M...|\[[A-E]|\?[0-9]+;[0-9]\$y)"
    r"|\x1bO[A-Z]",
    re.DOTALL,
)

_ANY = bool  # every sequence is a key

# (what came, what is to come of it)
CASES: dict[str, tuple[str, tuple[Piece, ...]]] = {
    "keys and letters": (
        f"ab{E}[A{E}OPc{E}[5~ä",
        (
            Sequence("ab"),
            Sequence(f"{E}[A"),
            Sequence(f"{E}OP"),
            Sequence("c"),
            Sequence(f"{E}[5~"),
            Sequence("ä"),
        ),
    ),
    "a paste that holds an escape and Enter": (
        f"{E}[200~hello {E} y{E}[A1\rmore\0{E}[201~z",
        (
            Pasted(f"hello {E} y{E}[A1\rmore"),
            Sequence("z"),
        ),
    ),
    "focus is lost inside a paste": (
        f"{E}[200~one{E}[Otwo{E}[201~{E}[I",
        (
            Pasted("onetwo"),
            Sequence(f"{E}[O"),
            Sequence(f"{E}[I"),
        ),
    ),
    "two pastes, and the end of one that was given up": (
        f"{E}[201~{E}[200~a{E}[201~{E}[200~{E}[200~b{E}[20{E}[201~",
        (
            Pasted("a"),
            Pasted(f"{E}[200~b{E}[20"),
        ),
    ),
    "replies of the terminal between letters": (
        f"a{E}]11;rgb:0000/0000/0000{E}\\b{E}]11;rgb:ffff/ffff/ffff\x07{E}[?65;1;9cc",
        (
            Sequence("a"),
            Reply(f"{E}]11;rgb:0000/0000/0000{E}\\"),
            Sequence("b"),
            Reply(f"{E}]11;rgb:ffff/ffff/ffff\x07"),
            Reply(f"{E}[?65;1;9c"),
            Sequence("c"),
        ),
    ),
    "names, kitty's flags, light and dark": (
        f"{E}P>|XTerm(379){E}\\{E}[?7u{E}[?997;1n{E}[>41;379;0cq{E}[?2026;2$y",
        (
            Reply(f"{E}P>|XTerm(379){E}\\"),
            Reply(f"{E}[?7u"),
            Reply(f"{E}[?997;1n"),
            Reply(f"{E}[>41;379;0c"),
            Sequence("q"),
            Sequence(f"{E}[?2026;2$y"),
        ),
    ),
    "alt and a key, where the terminal has an escape for it": (
        f"{E}\r{E}y1{E}\x7f{E}\x01{E}ä",
        (
            Pressed("alt+enter"),
            Pressed("alt+y"),
            Sequence("1"),
            Pressed("ctrl+w"),
            Pressed("alt+ctrl+a"),
            Pressed("alt+ä"),
        ),
    ),
    "shift+enter as xterm names it": (
        f"{E}[27;2;13~x",
        (
            Sequence(f"{E}[13;2u"),
            Sequence("x"),
        ),
    ),
    "a key that is pressed, held and let go": (
        f"{E}[121;1:1u{E}[121;1:2u{E}[121;1:3u{E}[1;1:3A{E}[97;2:1;65u",
        (Sequence(f"{E}[121;1u"), Sequence(f"{E}[121;1u"), Sequence(f"{E}[97;2;65u")),
    ),
    "escape, and escape twice": (
        f"{E}{E}{E}[A{E}",
        (
            Pressed("escape"),
            Pressed("escape"),
            Sequence(f"{E}[A"),
            Pressed("escape"),
        ),
    ),
    "the mouse, old and new": (
        f"{E}[<0;10;5M{E}[M !!k{E}[<0;10;5m",
        (
            Sequence(f"{E}[<0;10;5M"),
            Sequence(f"{E}[M !!"),
            Sequence("k"),
            Sequence(f"{E}[<0;10;5m"),
        ),
    ),
    "a sequence that another one breaks": (
        f"{E}[12{E}[B{E}]11;rgb{E}[C{E}[1;\x01d",
        (
            Reply(f"{E}[12"),
            Sequence(f"{E}[B"),
            Reply(f"{E}]11;rgb"),
            Sequence(f"{E}[C"),
            Reply(f"{E}[1;"),
            Sequence("\x01d"),
        ),
    ),
}


def _told(pieces: Iterable[Piece]) -> list[tuple[str, str]]:
    """Return the pieces so that they can be compared: tuples of two kinds are equal."""
    return [(type(each).__name__, each[0]) for each in pieces]


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join characters that came apart."""
    found: list[Piece] = []
    for piece in pieces:
        before = found[-1] if found else None
        if _is_text(piece) and before is not None and _is_text(before):
            found[-1] = Sequence(before[0] + piece[0])
        else:
            found.append(piece)
    return found


def _is_text(piece: Piece) -> bool:
    return isinstance(piece, Sequence) and piece.text[0] != E


def _filtered(parts: list[str]) -> list[tuple[str, str]]:
    taken = Filter(lambda text: _KEYS.fullmatch(text) is not None)
    pieces: list[Piece] = []
    for part in parts:
        pieces += taken.feed(part, 10.0)
    return _told(_joined(pieces + taken.tick(20.0)))


@pytest.mark.parametrize("name", CASES)
def test_cuts_change_nothing(name: str) -> None:
    text, pieces = CASES[name]
    wanted = _told(pieces)
    assert _filtered([text]) == wanted
    assert _filtered(list(text)) == wanted
    chance = random.Random(name)
    for _ in range(200):
        places = sorted(chance.sample(range(len(text) + 1), min(len(text), chance.randint(1, 6))))
        parts = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        assert _filtered(parts) == wanted, parts


def test_a_paste_without_an_end_is_given_after_a_moment_and_swallows_nothing_more() -> None:
    taken = Filter(_ANY)
    assert _told(taken.feed(f"{E}[200~half", 1.0)) == _told([])
    assert _told(taken.tick(2.9)) == _told([])
    assert taken.wait_s(2.9) == pytest.approx(0.1)
    assert _told(taken.feed("n", 3.1)) == _told([Pasted("half"), Sequence("n")])
    assert _told(taken.feed(f"{E}[201~m", 3.2)) == _told([Sequence("m")])


def test_what_is_unfinished_is_held_no_longer_than_it_may_be_one() -> None:
    taken = Filter(_ANY)
    for begun, wanted in {
        E: Pressed("escape"),
        f"{E}[": Pressed("alt+["),
        f"{E}]": Pressed("alt+]"),
        f"{E}O": Pressed("alt+O"),
    }.items():
        assert _told(taken.feed(begun, 1.0)) == _told([])
        assert _told(taken.tick(1.04)) == _told([])
        assert _told(taken.feed("x", 1.06)) == _told([wanted, Sequence("x")])
    assert _told(taken.feed(f"{E}[1;", 2.0)) == _told([])
    assert _told(taken.feed("5A", 2.4)) == _told([Sequence(f"{E}[1;5A")]), "the line is slow"
    assert _told(taken.feed(f"{E}]11;rgb:00", 3.0)) == _told([])
    assert _told(taken.tick(3.6)) == _told([Reply(f"{E}]11;rgb:00")])
    assert taken.wait_s(4.0) is None
