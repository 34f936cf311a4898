"""Chromium with a page of the dashboard, and pictures of it."""

import shutil
from pathlib import Path
from typing import Self

from playwright.sync_api import Locator, Page, sync_playwright

from tools.pictures.session import SHOWN_HOME

SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# The home of the sample has the name of a scratch directory.
RENAME = """([from, to]) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
        texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
}"""
# Pictures of a page have no pointer; the lines are those of the usual arrow.
POINT = """([x, y]) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    made.id = "pointer";
    made.setAttribute("viewBox", "0 0 16 24");
    made.setAttribute("width", "20");
    Object.assign(made.style, {position: "fixed", left: x + "px", top: y + "px", zIndex: 99});
    const arrow = document.createElementNS("http://www.w3.org/2000/svg", "path");
    arrow.setAttribute("d", "M1 1v18l4.5-4 3 7 3-1.3-3-6.7H14z");
    Object.assign(arrow.style, {fill: "#111", stroke: "#fff", strokeWidth: "1.4"});
    made.append(arrow);
    document.querySelector("#pointer")?.remove();
    document.body.append(made);
}"""


class Browser:
    """Used in a `with`; `home` is the directory whose name is not to be seen."""

    def __init__(self, address: str, home: Path) -> None:
        self._base, _, self._key = address.partition("/#")
        self._home = str(home)

    def __enter__(self) -> Self:
        chromium = shutil.which("chromium")
        assert chromium, "there is no chromium on this machine"
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        return self

    def __exit__(self, *_error: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def page(self, width: int, height: int, scheme: str) -> Page:
        return self._browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )

    def go(self, page: Page, path: str) -> None:
        """Open a page of the dashboard, and wait until all of it is there."""
        page.goto(f"{self._base}{path}#{self._key}")
        page.wait_for_selector("main[aria-busy=false]")
        page.wait_for_timeout(1200)  # until what comes into view has been fetched

    def picture(self, page: Page, point_to: Locator | None = None) -> bytes:
        """Return a PNG of what is seen, with the pointer on an element if one is named."""
        page.evaluate(RENAME, [self._home, SHOWN_HOME])
        if point_to is not None:
            box = point_to.bounding_box()
            assert box, point_to
            width = min(box["width"], 220)
            page.evaluate(POINT, [box["x"] + 0.7 * width, box["y"] + 0.6 * box["height"]])
        return page.screenshot()
