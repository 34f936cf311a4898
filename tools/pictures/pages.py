"""The pages of the dashboard as the docs show them."""

from pathlib import Path
from typing import NamedTuple

from tools.pictures.browser import Browser
from tools.pictures.shop import open_shop


class Shot(NamedTuple):
    """A picture: of which page, how large, in which colours."""

    name: str
    path: str
    width: int
    height: int
    scheme: str


def make(directory: Path, target: Path) -> None:
    """Make all pictures, with a shop below `directory`."""
    with open_shop(directory) as (address, ids), Browser(address, directory / "home") as browser:
        for shot in _shots(ids):
            page = browser.page(shot.width, shot.height, shot.scheme)
            browser.go(page, shot.path)
            (target / f"{shot.name}.png").write_bytes(browser.picture(page))
            page.close()


def _shots(ids: dict[str, str]) -> list[Shot]:
    cart, live = ids["fix the cart total"], ids["index the catalogue"]
    return [
        Shot("board", "/", 1280, 780, "light"),
        Shot("step", f"/tasks/{cart}/steps/1", 1280, 1130, "light"),
        Shot("decision", "/decisions/" + ids["decision"], 1280, 930, "dark"),
        Shot("live", f"/tasks/{live}", 1280, 760, "dark"),
        Shot("phone", f"/tasks/{cart}", 360, 740, "dark"),
    ]
