"""Agents that can go back go on from before an earlier prompt: the next request has none of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.talking.driver import Driven, said
from agents.talking.rows import ROWS, Place
from agents.talking.test_conformance import place_of
from siding.agents.talking.port import Trouble, Troubled

FIRST, SECOND, THIRD = "Name an apple", "Name a banana", "Name a cherry"
SAID = (FIRST, SECOND, THIRD)
NEVER = "11111111-1111-4111-8111-111111111111"
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(params=list(ROWS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    found = place_of(request.param, tmp_path)
    yield found
    found.close()


def talked(place: Place) -> list[str]:
    """Have three turns; return the ids of their prompts. No agent lives then."""
    driven = place.begin(["Gala."], ["Cavendish."], ["Bing."])
    prompts = []
    for prompt in SAID:
        prompts.append(driven.prompt(prompt))
        driven.turn()
    driven.pump(place.row.talking.settles_s)
    driven.close()
    return prompts


def asks(driven: Driven, prompt: str) -> str:
    driven.prompt(prompt)
    driven.turn()
    driven.pump(0.1)
    return prompt


def heard(place: Place) -> tuple[str, ...]:
    """Return which of the first prompts were in the newest request to the model."""
    request = said(place.model.requests[-1])
    return tuple(each for each in SAID if each in request)


def test_the_next_request_has_only_what_was_before(place: Place) -> None:
    prompts = talked(place)
    old = place.driven[-1].talker.session
    copy = "22222222-2222-4222-8222-222222222222"
    back = place.begin(["Plum."], session=old, before=prompts[1], new_session=copy)
    asks(back, "Name another")
    assert heard(place) == (FIRST,)
    made = back.talker.session
    assert made not in ("", old)
    back.pump(place.row.talking.settles_s)
    back.close()

    again = place.begin(["Pear."], session=made)  # after a restart, too
    asks(again, "And one more")
    assert heard(place) == (FIRST,)
    assert "Name another" in said(place.model.requests[-1])
    again.close()

    whole = place.begin(["Fig."], session=old)  # the old one is whole
    asks(whole, "What were they?")
    assert heard(place) == SAID
    assert "Name another" not in said(place.model.requests[-1])
    whole.close()

    # A copy is gone back in, too: in it is what it has of the old one.
    third = "33333333-3333-4333-8333-333333333333"
    copied = place.begin(["Lime."], session=made, before=prompts[0], new_session=third)
    asks(copied, "From the start")
    assert heard(place) == ()
    assert "Name another" not in said(place.model.requests[-1])
    assert copied.talker.session not in ("", old, made)


def test_where_its_record_has_no_such_prompt_it_does_not_go_on(place: Place) -> None:
    talked(place)
    session = place.driven[-1].talker.session
    hold = place.hold(session=session, before=NEVER, new_session=NEVER)
    opening = place.row.talking.opened(hold)
    if not opening.why_not:
        driven = Driven(opening, hold, dict(place.sandbox.env))
        place.driven.append(driven)
        driven.until(Troubled, lambda each: each.trouble is Trouble.NOT_BACK)
    assert len(place.model.requests) == len(SAID)


def test_there_is_no_way_to_before_a_compaction(place: Place) -> None:
    driven = place.begin(["Gala."], ["Cavendish."], ["In short: fruit."], ["On."])
    first = driven.prompt(FIRST)
    driven.turn()
    second = driven.prompt(SECOND)
    driven.turn()
    driven.talker.compact()
    driven.turn()
    place.model.says(["On."])
    third = asks(driven, THIRD)
    assert third in said(place.model.requests[-1])
    driven.pump(place.row.talking.settles_s)
    driven.close()
    for before in (first, second):
        hold = place.hold(session=driven.talker.session, before=before, new_session=NEVER)
        opening = place.row.talking.opened(hold)
        if not opening.why_not:
            back = Driven(opening, hold, dict(place.sandbox.env))
            place.driven.append(back)
            back.until(Troubled, lambda each: each.trouble is Trouble.NOT_BACK)
