"""The keys of all places together: each runs something, can be sent, and is in the page of keys."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tools.terminal import keys_page

from siding.faces.tui.app import SidingApp
from siding.faces.tui.keys import EVERYWHERE, Key, is_sendable
from siding.faces.tui.places.home.place import HomePlace

CHECKOUT = Path(__file__).parents[4]


def test_the_page_has_the_keys_as_they_are() -> None:
    kept = (CHECKOUT / keys_page.PAGE).read_text("utf-8")
    assert kept == keys_page.page(), "python -m tools.terminal writes it"


@pytest.mark.parametrize("title", [table[0] for table in keys_page.TABLES])
def test_every_terminal_can_send_each_key_and_none_is_taken_twice(title: str) -> None:
    (keys,) = (tuple(table[2]) for table in keys_page.TABLES if table[0] == title)
    all_keys = [key for each in keys for key in each.keys]
    assert [key for key in all_keys if not all(map(is_sendable, key.split(" ")))] == []
    assert sorted(set(all_keys)) == sorted(all_keys)
    begun = {key.split(" ")[0] for key in all_keys if " " in key}
    assert begun.isdisjoint(all_keys), "the first of two keys would act at once"


def test_each_entry_of_home_and_of_all_places_runs_something() -> None:
    def lost(keys: tuple[Key, ...], *kinds: type) -> list[str]:
        names = [f"act_{each.act}" for each in keys]
        return [name for name in names if not any(hasattr(kind, name) for kind in kinds)]

    assert lost(EVERYWHERE, SidingApp) == []
    plain = tuple(each for each in HomePlace.KEYS if not re.search(r"\d$", each.act))
    assert lost(plain, HomePlace, SidingApp) == []


@pytest.mark.parametrize("name", ["terminal-home.svg", "terminal-keys.svg"])
def test_a_picture_is_whole_and_takes_nothing_from_outside(name: str) -> None:
    text = (CHECKOUT / "docs/images" / name).read_text("utf-8")
    assert ET.fromstring(text).tag.endswith("svg")
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)|@font-face|@import|<a ", text) == []
    assert "WAITS" in text
