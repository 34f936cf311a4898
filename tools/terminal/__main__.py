"""Write the page of keys and the pictures: ``python -m tools.terminal``."""

from pathlib import Path

from tools.terminal import keys_page, pictures

CHECKOUT = Path(__file__).parents[2]

(CHECKOUT / keys_page.PAGE).write_text(keys_page.page(), encoding="utf-8")
for name, text in pictures.drawn().items():
    (CHECKOUT / "docs/images" / name).write_text(text, encoding="utf-8")
