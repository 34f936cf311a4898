"""A browser is paired, by a key of its own or an authenticator's, and then answers for a person."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.conftest import PATIENCE_MS, settled
from dashboards import Dashboard
from devices import Terminal, told
from integration.devices.conftest import Gated, Served, free_port, wait_at_the_gate
from sandbox import Sandbox

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that is paired with nothing; what its scripts complain of fails the test."""
    complaints: list[str] = []
    made = browser.new_context(viewport=PHONE, ignore_https_errors=True)  # type: ignore[arg-type]
    made.set_default_timeout(PATIENCE_MS)
    made.on("weberror", lambda error: complaints.append(str(error.error)))
    yield made
    made.close()
    assert not complaints


@pytest.fixture
def gated(sandbox: Sandbox) -> Iterator[Gated]:
    wait_at_the_gate(sandbox)
    with Dashboard(sandbox) as running:
        yield Gated(sandbox, running)


@pytest.fixture
def served(sandbox: Sandbox) -> Iterator[Served]:
    wait_at_the_gate(sandbox)
    port = free_port()
    with Dashboard(sandbox, "--serve", f"127.0.0.1:{port}") as running:
        yield Served(sandbox, running, port)


def authenticator(page: Page) -> None:
    """Give the page an authenticator that is touched whenever it asks."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable", {"enableUI": False})
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": False,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def pair(page: Page, sandbox: Sandbox, name: str, *, by: str = "key in this browser") -> None:
    """Pair the browser as a person does it."""
    with Terminal(sandbox) as terminal:
        page.goto(terminal.address)
        page.get_by_label("What to call it").fill(name)
        page.get_by_label("The code in the terminal").fill(terminal.code)
        page.get_by_role("button", name=by).click()
        expect(page.get_by_role("heading", name="Paired")).to_be_visible()
        status, said = terminal.end()
    assert status == 0, said
    assert f"paired {name}" in said


def open_gate(page: Page) -> None:
    """Answer the gate that waits in the inbox."""
    page.get_by_role("link", name="To the inbox").click()
    settled(page)
    page.get_by_role("link", name="May this be released?").click()
    expect(page.get_by_text("This browser is paired, and signs it.")).to_be_visible()
    expect(page.get_by_text("asks for a code")).to_be_hidden()
    page.get_by_role("radio", name="Yes, go on").check()
    page.get_by_role("button", name="Send the answer").click()
    expect(page.get_by_text("This is what was recorded")).to_be_visible()


@pytest.mark.parametrize(
    ("by", "kind"), [("key in this browser", "webcrypto"), ("security key", "webauthn")]
)
def test_a_paired_browser_opens_a_gate_without_a_code(
    gated: Gated, context: BrowserContext, by: str, kind: str
) -> None:
    page = context.new_page()
    if kind == "webauthn":
        authenticator(page)
    pair(page, gated.sandbox, "laptop", by=by)
    open_gate(page)
    expect(page.get_by_text("device laptop")).to_be_visible()
    assert gated.gate["via"] == "device"
    assert gated.dashboard.codes == 0
    (device,) = gated.sandbox.json("devices", "--json")
    assert device["kind"] == kind
    gated.sandbox.siding("phase", "next-part", "finish", "done")


def test_wrong_codes_are_told_and_the_right_one_still_pairs(
    gated: Gated, context: BrowserContext
) -> None:
    page = context.new_page()
    with Terminal(gated.sandbox) as terminal:
        page.goto(terminal.address)
        page.get_by_label("The code in the terminal").fill("aaaa-aaaa")
        page.get_by_role("button", name="key in this browser").click()
        expect(page.locator("#pair .complaint")).to_contain_text("that is not the code")
        page.get_by_label("The code in the terminal").fill(terminal.code)
        page.get_by_role("button", name="key in this browser").click()
        expect(page.get_by_role("heading", name="Paired")).to_be_visible()


def test_a_phone_and_a_second_machine_over_tls(served: Served, browser: Browser) -> None:
    """Two browsers are paired; one answers a question, the other stops a run; one is removed."""
    sandbox = served.sandbox
    sandbox.siding("run", "--detach", "--", "sleep", "1000")
    phone, second = (
        browser.new_context(viewport=PHONE, ignore_https_errors=True)  # type: ignore[arg-type]
        for _ in range(2)
    )
    try:
        for each in (phone, second):
            each.set_default_timeout(PATIENCE_MS)
        one, two = phone.new_page(), second.new_page()
        pair(one, sandbox, "phone")
        pair(two, sandbox, "second")
        open_gate(one)
        two.get_by_role("link", name="To the inbox").click()
        card = two.locator("#runs .card")
        card.get_by_text("Stop it?").click()
        expect(card.get_by_text("This needs a code")).to_be_hidden()
        card.get_by_role("button", name="Stop").click()
        expect(two.locator("#said")).to_contain_text("has ended")
        expect(two.locator("#runs")).to_have_count(0)
        assert served.dashboard.codes == 0
        used = [each["name"] for each in told(sandbox) if each["event"] == "device.used"]
        assert used == ["phone", "second"]
        sandbox.siding("devices", "remove", "phone")
        one.goto(f"{served.address.origin}/inbox")
        expect(one.get_by_role("heading", name="Pair this browser")).to_be_visible()
        expect(one.get_by_text("not paired any more")).to_be_visible()
        two.reload()
        settled(two)
        expect(two.get_by_role("heading", name="Inbox")).to_be_visible()
    finally:
        phone.close()
        second.close()


def test_a_session_that_has_ended_begins_again_by_itself(
    served: Served, context: BrowserContext
) -> None:
    page = context.new_page()
    pair(page, served.sandbox, "phone")
    page.get_by_role("link", name="To the inbox").click()
    settled(page)
    context.clear_cookies()
    page.goto(f"{served.address.origin}/decisions")
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible()
    other = context.new_page()  # a new tab has the cookie, and asks the open one for the key
    other.goto(f"{served.address.origin}/phases")
    expect(other.get_by_role("heading", name="Phases")).to_be_visible()
    page.close()
    other.evaluate("sessionStorage.clear()")
    other.goto(f"{served.address.origin}/events")
    expect(other.get_by_role("heading", name="Events")).to_be_visible()


def test_a_removed_browser_falls_back_to_the_code_on_the_loopback(
    gated: Gated, context: BrowserContext
) -> None:
    page = context.new_page()
    pair(page, gated.sandbox, "laptop")
    page.get_by_role("link", name="To the inbox").click()
    page.get_by_role("link", name="May this be released?").click()
    gated.sandbox.siding("devices", "remove", "laptop")
    page.get_by_role("radio", name="Yes, go on").check()
    send = page.get_by_role("button", name="Send the answer")
    send.click()
    code = page.locator("#decision").get_by_label("The code in the terminal")
    expect(code).to_be_focused()
    code.fill(gated.dashboard.code())
    send.click()
    expect(page.get_by_text("page with code")).to_be_visible()


def test_the_key_never_leaves_the_browser(gated: Gated, context: BrowserContext) -> None:
    page = context.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    pair(page, gated.sandbox, "laptop")
    exported = page.evaluate(
        """async () => {
          const { device } = await import("/static/device.js");
          const { privateKey } = await device();
          const tries = ["jwk", "pkcs8"].map((form) => crypto.subtle.exportKey(form, privateKey));
          const done = await Promise.allSettled(tries);
          return [privateKey.extractable, ...done.map((each) => each.status)];
        }"""
    )
    assert exported == [False, "rejected", "rejected"]
    bodies = [json.loads(each) for each in sent if each.startswith("{")]
    assert not [each for each in bodies if set(each) & {"privateKey", "d", "key"}]


def test_a_browser_that_is_paired_here_is_paired_after_a_new_start(
    gated: Gated, context: BrowserContext
) -> None:
    """With the same port: a browser keeps keys by address, and `siding ui` prints that one."""
    page = context.new_page()
    pair(page, gated.sandbox, "laptop")
    gated.dashboard.end()
    with Dashboard(gated.sandbox, "--port", str(gated.dashboard.port)) as later:
        assert later.address.startswith(f"http://localhost:{later.port}/")
        page.goto(later.address)
        settled(page)
        page.goto(later.address.replace("/#", "/decisions#"))
        page.get_by_role("link", name="May this be released?").click()
        expect(page.get_by_text("This browser is paired, and signs it.")).to_be_visible()
        page.get_by_role("radio", name="No, not yet").check()
        page.get_by_role("button", name="Send the answer").click()
        expect(page.get_by_text("device laptop")).to_be_visible()


def test_who_does_not_touch_the_authenticator_types_the_code(
    gated: Gated, context: BrowserContext
) -> None:
    page = context.new_page()
    authenticator(page)
    pair(page, gated.sandbox, "laptop", by="security key")
    page.get_by_role("link", name="To the inbox").click()
    page.get_by_role("link", name="May this be released?").click()
    page.evaluate(
        """() => {
          navigator.credentials.get = async () => {
            throw new DOMException("not touched", "NotAllowedError");
          };
        }"""
    )
    page.get_by_role("radio", name="Yes, go on").check()
    send = page.get_by_role("button", name="Send the answer")
    send.click()
    code = page.locator("#decision").get_by_label("The code in the terminal")
    expect(code).to_be_focused()
    code.fill(gated.dashboard.code())
    send.click()
    expect(page.get_by_text("page with code")).to_be_visible()


def test_a_browser_without_a_store_works_as_before(gated: Gated, context: BrowserContext) -> None:
    page = context.new_page()
    page.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }"
    )
    page.goto(gated.dashboard.url("/decisions"))
    settled(page)
    expect(page.get_by_role("link", name="May this be released?")).to_be_visible()
