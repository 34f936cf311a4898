"""A device is paired by a person at a terminal: with a code that is good once, and its own key."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest

from devices import Device, Terminal, aged, on_loopback, reasons, refusal, told
from sandbox import Sandbox

from .conftest import YES, Gated, Served


def test_it_is_paired_once_and_the_files_are_its_owners(gated: Gated) -> None:
    device = on_loopback(gated.dashboard)
    with Terminal(gated.sandbox) as terminal:
        assert terminal.address.startswith(f"http://localhost:{gated.dashboard.port}/pair#key=")
        directory = gated.sandbox.directory / "siding" / "devices"
        assert terminal.code not in (directory / "offer.json").read_text()
        status, body = device.signed("/device/pair", device.new(terminal.code, "my\nphone"))
        assert (status, body) == (200, {"id": device.id, "name": "my phone"})
        status, said = terminal.end()
        assert status == 0
        assert "paired my phone (webcrypto" in said
        again = on_loopback(gated.dashboard)
        late = again.signed("/device/pair", again.new(terminal.code))
        assert "the code was used" in refusal(late)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    files = [each for each in directory.rglob("*") if each.is_file()]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert not (directory / "offer.json").exists()
    kept = json.loads((directory / f"{device.id}.json").read_text())
    assert bytes.fromhex(kept["public_key"]) == device.public
    assert b"a device was paired: my phone" in gated.dashboard.said
    assert [each["event"] for each in told(gated.sandbox)] == [
        "device.offered",
        "device.paired",
        "device.refused",
    ]


def test_two_devices_never_have_one_name(gated: Gated) -> None:
    for _ in range(2):
        on_loopback(gated.dashboard).pair(gated.sandbox, "Phone")
    names = [each["name"] for each in gated.sandbox.json("devices", "--json")]
    assert names == ["Phone", "Phone 2"]
    with Terminal(gated.sandbox, "tablet") as terminal:
        device = on_loopback(gated.dashboard)
        assert device.signed("/device/pair", device.new(terminal.code))[1]["name"] == "tablet"


def test_wrong_codes_end_the_offer(gated: Gated) -> None:
    device = on_loopback(gated.dashboard)
    with Terminal(gated.sandbox) as terminal:
        for number in range(5):
            said = refusal(device.signed("/device/pair", device.new("aaaa-aaaa")))
            assert said == ("that was tried too often" if number == 4 else "that is not the code")
        refusal(device.signed("/device/pair", device.new(terminal.code)))
        status, told_there = terminal.end()
    assert status == 1
    assert "wrong codes were typed too often" in told_there
    *before, last = reasons(gated.sandbox)
    assert before == ["wrong code"] * 4 + ["too many"]
    assert last in ("too many", "no offer")  # whether or not the terminal has taken it back by then
    assert gated.sandbox.json("devices", "--json") == []


def test_a_code_that_is_too_old_pairs_nothing(gated: Gated) -> None:
    device = on_loopback(gated.dashboard)
    with Terminal(gated.sandbox) as terminal:
        os.kill(terminal.process.pid, signal.SIGSTOP)  # it would take the offer back
        try:
            with aged(gated.sandbox, 121):
                said = refusal(device.signed("/device/pair", device.new(terminal.code)))
        finally:
            os.kill(terminal.process.pid, signal.SIGCONT)
        assert said == "the code is too old"
        status, told_there = terminal.end()
    assert status == 1
    assert "nobody typed the code in time" in told_there
    assert reasons(gated.sandbox) == ["late code"]


def test_ctrl_c_takes_the_code_back(gated: Gated) -> None:
    device = on_loopback(gated.dashboard)
    with Terminal(gated.sandbox) as terminal:
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.end()[0] == 130
        said = refusal(device.signed("/device/pair", device.new(terminal.code)))
    assert said == "nobody is pairing a device now, or the code was used"
    assert gated.sandbox.json("devices", "--json") == []


def test_the_code_without_a_signature_of_the_key_pairs_nothing(gated: Gated) -> None:
    device, other = on_loopback(gated.dashboard), on_loopback(gated.dashboard)
    with Terminal(gated.sandbox) as terminal:
        body = json.dumps(device.new(terminal.code)).encode()
        for proof in (
            None,
            "x",
            other.proof("/device/pair", body, other.challenge()),
            device.proof("/device/pair", body + b" ", device.challenge()),
            device.proof("/device/sign-in", body, device.challenge()),
        ):
            refusal(device.post("/device/pair", body, proof))
        assert gated.sandbox.json("devices", "--json") == []
        assert device.signed("/device/pair", device.new(terminal.code))[0] == 200  # not used up


def test_pairing_wants_the_key_on_the_loopback(gated: Gated) -> None:
    stranger = on_loopback(gated.dashboard)
    stranger.headers = {}
    with Terminal(gated.sandbox) as terminal:
        for path in ("/device/challenge", "/device/pair", "/device/sign-in"):
            assert stranger.post(path, stranger.new(terminal.code))[0] == 401
        assert stranger.get("/pair")[0] == 200  # the page names no project
    status, _said = on_loopback(gated.dashboard).signed("/device/sign-in", {})
    assert status == 404  # nothing is served


def test_without_a_dashboard_the_remedy_is_named(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    done = sandbox.siding("devices", "pair", status=1)
    assert b"no dashboard of this project runs" in done.stderr
    assert b"siding ui --serve" in done.stderr


INSIDE = """
import os, subprocess, sys
clean = {n: v for n, v in os.environ.items() if not n.startswith("SIDING_") or n == "SIDING_HOME"}
for words in (["pair"], ["remove", "phone"]):
    for env, where in ((dict(os.environ), "."), (clean, "."), (clean, sys.argv[1])):
        done = subprocess.run(
            [sys.executable, "-m", "siding", "devices", *words], env=env, cwd=where,
            capture_output=True, text=True, start_new_session=True, timeout=60,
        )
        print(done.returncode, "runs inside a task's step" in done.stderr, flush=True)
"""


def test_no_command_inside_a_run_pairs_or_removes(
    gated: Gated, phone: Device, tmp_path: Path
) -> None:
    """Not with a clean environment, nor from another project: devices are those of the home."""
    elsewhere = Sandbox(tmp_path / "other")
    elsewhere.env = {**gated.sandbox.env}
    elsewhere.siding("init")
    done = gated.sandbox.siding(
        "run", "--no-tty", "--", "python3", "-c", INSIDE, str(elsewhere.repo)
    )
    assert done.stdout.decode().split("\n")[:-1] == ["1 True"] * 6
    assert [each["name"] for each in gated.sandbox.json("devices", "--json")] == ["phone"]
    assert phone.signed(gated.answer, YES)[0] == 200


def test_a_damaged_device_is_named_and_can_do_nothing(gated: Gated, phone: Device) -> None:
    path = gated.sandbox.directory / "siding" / "devices" / f"{phone.id}.json"
    other = on_loopback(gated.dashboard)
    forged = json.loads(path.read_text()) | {"public_key": other.public.hex()}
    path.write_text(json.dumps(forged))  # a key that nobody paired, under a name that is
    status, body = phone.signed(gated.answer, YES)
    assert status == 409, body
    assert b"not that of its key" in gated.sandbox.siding("devices").stderr
    assert gated.is_shut()


@pytest.mark.parametrize("word", ["phone", "PHONE"])
def test_a_device_is_removed_by_name(gated: Gated, phone: Device, word: str) -> None:
    gated.sandbox.siding("devices", "remove", word)
    assert gated.sandbox.json("devices", "--json") == []
    assert b"there is no device" in gated.sandbox.siding("devices", "remove", word, status=1).stderr


def test_doctor_says_who_is_paired_and_whether_it_is_served(served: Served) -> None:
    sandbox = served.sandbox
    said = sandbox.siding("doctor", "--check").stderr.decode()
    assert f"no device is paired; the dashboard is served to devices at {served.url}" in said
    tablet = served.device().pair(sandbox, "tablet")
    said = sandbox.siding("doctor", "--check").stderr.decode()
    assert "may answer in your name: tablet" in said
    assert "a run without a sandbox can forge a device" in said
    served.dashboard.end()
    said = sandbox.siding("doctor", "--check").stderr.decode()
    assert "the dashboard is not served to them now" in said
    path = sandbox.directory / "siding" / "devices" / f"{tablet.id}.json"
    path.write_text("{}")
    found = sandbox.siding("doctor", "--check", status=1).stdout.decode()
    assert str(path) in found
    assert "moved aside" in sandbox.siding("doctor").stdout.decode()
    assert not path.exists()
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"
