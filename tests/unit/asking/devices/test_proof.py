"""A challenge is for one device, good once, and for a short time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.asking.devices.proof import GOOD_FOR_S, Challenges
from siding.asking.devices.refusals import DeviceRefused, Reason

ME, OTHER = "0123456789abcdef", "fedcba9876543210"


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def why(challenges: Challenges, device: str, challenge: str) -> Reason:
    with pytest.raises(DeviceRefused) as refused:
        challenges.spend(device, challenge)
    return refused.value.reason


def test_it_is_good_once_for_its_device_and_for_a_short_time() -> None:
    clock = Clock()
    challenges = Challenges(now=clock)
    first, second, third = (challenges.new(ME) for _ in range(3))
    assert len({first, second, third}) == 3
    assert why(challenges, OTHER, first) is Reason.FOREIGN
    clock.at += GOOD_FOR_S
    challenges.spend(ME, first)
    assert why(challenges, ME, first) is Reason.REPLAYED
    clock.at += 1
    assert why(challenges, ME, second) is Reason.STALE
    fresh = challenges.new(ME)
    challenges.spend(ME, fresh)
    assert why(challenges, ME, fresh) is Reason.REPLAYED


def test_those_of_another_start_are_foreign() -> None:
    assert why(Challenges(), ME, Challenges().new(ME)) is Reason.FOREIGN


def test_it_stays_used_until_it_is_too_old() -> None:
    clock = Clock()
    challenges = Challenges(now=clock)
    used = challenges.new(ME)
    challenges.spend(ME, used)
    for _ in range(3 * GOOD_FOR_S):
        clock.at += 1
        challenges.spend(ME, challenges.new(ME))
        assert why(challenges, ME, used) in (Reason.REPLAYED, Reason.STALE)


@given(at=st.integers(min_value=0, max_value=2000), letter=st.characters(codec="utf-8"))
def test_any_changed_letter_is_refused(at: int, letter: str) -> None:
    challenges = Challenges()
    good = challenges.new(ME)
    at %= len(good)
    changed = good[:at] + letter + good[at + 1 :]
    if changed == good:
        challenges.spend(ME, good)
    else:
        assert why(challenges, ME, changed) is Reason.FOREIGN


@given(st.text(max_size=100))
def test_what_was_never_a_challenge_is_foreign(text: str) -> None:
    assert why(Challenges(), ME, text) is Reason.FOREIGN
