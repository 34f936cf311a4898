"""When a card may take a key: only after its own chord, and never a key of a sentence."""

from siding.faces.tui.cards.arming import AFTER_CHORD_S, AFTER_SHOWN_S, AFTER_TYPED_S, Arming
from unit.faces.tui.cards.decisions import Clock


def armed(clock: Clock) -> Arming:
    """Return the arming of a card that was shown long ago, right after its chord."""
    arming = Arming(clock)
    arming.show("a")
    clock.at += 60
    assert arming.chord()
    return arming


def test_without_a_chord_no_key_is_taken() -> None:
    clock = Clock()
    arming = Arming(clock)
    arming.show("a")
    clock.at += 60
    assert not arming.takes()


def test_a_chord_counts_after_a_moment() -> None:
    clock = Clock()
    arming = armed(clock)
    assert not arming.takes()
    clock.at += AFTER_CHORD_S - 0.01
    assert not arming.takes()
    clock.at += 0.02
    assert arming.takes()


def test_a_card_that_has_just_come_takes_nothing() -> None:
    clock = Clock()
    arming = Arming(clock)
    arming.show("a")
    arming.chord()
    clock.at += AFTER_SHOWN_S - 0.01
    assert not arming.takes()
    clock.at += 0.02
    assert arming.takes()


def test_a_sentence_that_goes_on_is_no_answer() -> None:
    clock = Clock()
    arming = armed(clock)
    for _ in range(20):
        clock.at += AFTER_TYPED_S - 0.01
        arming.typed()
        assert not arming.takes()
    clock.at += AFTER_TYPED_S + 0.01
    assert arming.takes()


def test_another_card_is_not_armed() -> None:
    clock = Clock()
    arming = armed(clock)
    arming.show("b")
    clock.at += 60
    assert not arming.takes()
    arming.show("a")
    clock.at += 60
    assert not arming.takes()


def test_the_same_card_again_stays_armed_and_is_not_new() -> None:
    clock = Clock()
    arming = armed(clock)
    clock.at += 1
    arming.show("a")
    assert arming.takes()


def test_no_card_no_chord() -> None:
    clock = Clock()
    arming = armed(clock)
    arming.show("")
    assert not arming.chord()
    assert not arming.is_armed
