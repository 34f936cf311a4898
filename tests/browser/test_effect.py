"""The page of a question shows what the command would do, as soon as that is known."""

from playwright.sync_api import expect

from browser.conftest import Open, settled
from bwrap import needs_bwrap
from dashboards import Dashboard
from integration.effect.bench import Bench


@needs_bwrap
def test_the_page_shows_the_effect_and_the_patch_as_text(visit: Open) -> None:
    bench = Bench()
    name = "<img src=x onerror=alert(1)>.o"
    (bench.root / "build" / name).write_text("<script>document.title = 'owned'</script>\n")
    with Dashboard(bench.sandbox) as dashboard, bench.asking("sleep 1; rm -rf build/") as question:
        page = visit(dashboard, f"/decisions/{question.session}")
        expect(page.locator(".effect h2")).to_have_text("effect: deletes 31 files: build/")
        settled(page)
        shown = page.get_by_role("region", name="what would be done")
        expect(shown).to_contain_text(f"- build/{name}")
        page.get_by_text("The patch").click()
        patch = page.get_by_role("region", name="patch of the effect")
        expect(patch).to_contain_text("-<script>document.title")
        assert page.title() != "owned"
        assert page.locator(".effect img, .effect script").count() == 0
        page.get_by_role("radio", name="Refuse it").check()
        page.get_by_role("button", name="Send the answer").click()
        expect(page.get_by_text("This is what was recorded")).to_be_visible()
        expect(page.locator(".effect h2")).to_contain_text("deletes 31 files")
