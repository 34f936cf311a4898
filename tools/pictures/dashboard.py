"""A picture of the dashboard that moves: what waits is answered, what runs is watched."""

from pathlib import Path

from tools.pictures.apng import Frame, animated
from tools.pictures.browser import Browser
from tools.pictures.shop import open_shop

WIDTH, HEIGHT = 1200, 750
BELOW_THE_BAR = "each => scrollTo(0, each.getBoundingClientRect().top + scrollY - 70)"


def make(directory: Path, target: Path) -> None:
    """Make the picture, with a shop below `directory`."""
    with open_shop(directory) as (address, ids), Browser(address, directory / "home") as browser:
        target.joinpath("dashboard.png").write_bytes(animated(_frames(browser, ids)))


def _frames(browser: Browser, ids: dict[str, str]) -> list[Frame]:
    page = browser.page(WIDTH, HEIGHT, "light")
    frames: list[Frame] = []

    browser.go(page, "/")
    question = page.locator(".waits a").first
    frames.append(Frame(browser.picture(page, question), 2.4))

    browser.go(page, f"/decisions/{ids['decision']}")
    option = page.locator("label", has_text="Whole cents").first
    option.scroll_into_view_if_needed()
    frames.append(Frame(browser.picture(page, option), 2.6))
    option.click()
    page.wait_for_timeout(300)
    frames.append(Frame(browser.picture(page, page.get_by_role("button", name="Next")), 1.2))

    browser.go(page, f"/tasks/{ids['index the catalogue']}")
    for seconds in (0.9, 0.9, 1.4):
        frames.append(Frame(browser.picture(page), seconds))
        page.wait_for_timeout(700)

    browser.go(page, f"/tasks/{ids['fix the cart total']}")
    step = page.locator(".stop-link", has_text="agent").first
    frames.append(Frame(browser.picture(page, step), 2.2))
    browser.go(page, f"/tasks/{ids['fix the cart total']}/steps/1")
    page.locator(".stream-head").first.evaluate(BELOW_THE_BAR)
    page.wait_for_timeout(500)
    frames.append(Frame(browser.picture(page), 3.2))
    return frames
