"""Lines are found again where they went, or not at all."""

import random
from itertools import count as counting

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.comments.anchor import found_again, went_to

TEXTS = st.lists(st.sampled_from("abcde}"), max_size=12)


@given(TEXTS, TEXTS)
def test_what_went_somewhere_is_the_same_there_and_in_order(old: list[str], new: list[str]) -> None:
    went = went_to(old, new)
    assert all(old[at] == new[there] for at, there in went.items())
    places = [went[at] for at in sorted(went)]
    assert places == sorted({*places})


@given(TEXTS.filter(bool), st.data())
def test_nothing_is_lost_in_a_text_that_stays(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    size = data.draw(st.integers(1, len(lines) - first))
    assert found_again(lines, list(lines), first, size) == first
    assert went_to(lines, list(lines)) == {at: at for at in range(len(lines))}


@pytest.mark.parametrize(
    ("old", "new", "line", "there"),
    [
        ("a b c d e f g", "x y a b c d e f g", "d", 5),  # lines before it
        ("a b c d e f g", "a b c d", "d", 3),  # what was after it is gone
        ("a b c d e f g", "d e f g", "d", 0),
        ("a b c d e f g", "a b c x e f g", "d", None),  # the line was changed
        ("a b c d e f g", "a b c d x y z d e f g", "d", None),  # copied: which of them?
        ("a b c d e f g h i j k l", "h i j k l a b c d e f g", "j", None),  # moved
        ("a b } c d } e f", "c d } e f", "}", None),  # the first of two that look alike
        ("d", "x d y", "d", None),  # nothing is left around it
        ("a d", "x a d", "d", 2),
        ("a b", "", "b", None),
    ],
)
def test_cases(old: str, new: str, line: str, there: int | None) -> None:
    lines = old.split()
    assert found_again(lines, new.split(), lines.index(line), 1) == there


class Editor:
    """A file of code whose lines have an identity that their text does not show."""

    def __init__(self, drawn: random.Random) -> None:
        self.drawn = drawn
        self.ids = counting()
        self.lines = [self.line() for _each in range(80)]

    def line(self) -> tuple[int, str]:
        common = ("", "    return None", "}", "    pass", "else:")
        text = self.drawn.choice(common) if self.drawn.random() < 0.35 else ""
        return next(self.ids), text or f"    x = call({self.drawn.randrange(60)})"

    def texts(self) -> list[str]:
        return [text for _id, text in self.lines]

    def edit(self) -> None:
        """Do what agents do: write, delete, change, move and copy blocks."""
        lines, drawn = self.lines, self.drawn
        at, size = drawn.randrange(len(lines) + 1), drawn.choice((1, 1, 2, 3, 8))
        match drawn.choice(("write", "write", "delete", "change", "move", "copy")):
            case "write":
                lines[at:at] = [self.line() for _each in range(size)]
            case "delete" if len(lines) > 40:
                del lines[at : at + size]
            case "change":
                lines[at : at + size] = [self.line() for _each in lines[at : at + size]]
            case "move":
                block = lines[at : at + size]
                del lines[at : at + size]
                to = drawn.randrange(len(lines) + 1)
                lines[to:to] = block
            case "copy":
                block = [(next(self.ids), text) for _id, text in lines[at : at + size]]
                to = drawn.randrange(len(lines) + 1)
                lines[to:to] = block
            case _:
                pass


@pytest.mark.parametrize("seed", range(5))
def test_comments_over_two_hundred_edits_are_right_or_stale(seed: int) -> None:
    """Each is looked for after every few edits, from where it was found last."""
    drawn = random.Random(seed)
    editor = Editor(drawn)
    wanted = {line[0]: (list(editor.lines), at) for at, line in enumerate(editor.lines) if at % 4}
    right = 0
    for number in range(200):
        editor.edit()
        if number % 3:
            continue
        found = {}
        for line, (before, at) in wanted.items():
            old = [text for _id, text in before]
            there = found_again(old, editor.texts(), at, 1)
            if there is None:
                found[line] = (before, at)
                continue
            right += 1
            assert editor.texts()[there] == old[at]
            assert not _stands_elsewhere(before, editor.lines, at, there)
            found[editor.lines[there][0]] = (list(editor.lines), there)
        wanted = found
    assert right > 300  # of about 4,000 looks: the files are cruel


def _stands_elsewhere(
    old: list[tuple[int, str]], new: list[tuple[int, str]], at: int, there: int
) -> bool:
    """The line is at another place, with what stood before or after it: a reader could tell."""
    if old[at] not in new or new[there] == old[at]:
        return False
    own = new.index(old[at])
    before = old[max(0, at - 3) : at] == new[max(0, own - 3) : own]
    return before or old[at + 1 : at + 4] == new[own + 1 : own + 4]
