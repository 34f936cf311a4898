"""An offer to pair a device takes its code once, within two minutes and five tries."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from siding.asking.devices.device import (
    ALPHABET,
    GOOD_FOR_S,
    TRIES,
    document_of_offer,
    judged,
    new_code,
    new_offer,
    offer_from,
)
from siding.asking.devices.refusals import Reason

CODE = "2345-6789"
OFFER = new_offer(CODE, name="", now=1000.0, random_bytes=os.urandom)


def test_the_code_takes_it_however_it_is_typed() -> None:
    for typed in (CODE, "23456789", " 2345 6789 ", "2345-6789".upper()):
        assert judged(OFFER, typed, now=1000.0 + GOOD_FOR_S) == (OFFER, None)
    assert judged(offer_from(document_of_offer(OFFER)), CODE, now=1001.0)[1] is None


def test_five_wrong_codes_end_it() -> None:
    offer = OFFER
    for number in range(TRIES):
        left, reason = judged(offer, "2345-678a", now=1001.0)
        assert left is not None
        assert reason is (Reason.TOO_MANY if number == TRIES - 1 else Reason.WRONG_CODE)
        offer = left
    assert judged(offer, CODE, now=1001.0) == (offer, Reason.TOO_MANY)


def test_it_is_good_neither_later_nor_earlier_nor_twice() -> None:
    assert judged(OFFER, CODE, now=1000.5 + GOOD_FOR_S)[1] is Reason.LATE_CODE
    assert judged(OFFER, CODE, now=900.0)[1] is Reason.LATE_CODE
    assert judged(OFFER._replace(used_by="x"), CODE, now=1001.0)[1] is Reason.NO_OFFER
    assert judged(None, CODE, now=1001.0) == (None, Reason.NO_OFFER)


@settings(max_examples=20)  # each try takes 30 ms, and is meant to
@given(st.text(st.sampled_from(ALPHABET + "-"), max_size=12))
def test_no_other_code_takes_it(code: str) -> None:
    wanted = code.replace("-", "") == CODE.replace("-", "")
    assert (judged(OFFER, code, now=1001.0)[1] is None) == wanted


def test_codes_differ_and_have_the_letters_that_nobody_confuses() -> None:
    codes = {new_code(os.urandom) for _ in range(200)}
    assert len(codes) == 200
    assert set("".join(codes)) <= set(ALPHABET + "-")
    assert {len(code) for code in codes} == {9}
    assert CODE not in str(document_of_offer(OFFER))
