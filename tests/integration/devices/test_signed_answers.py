"""A gate is opened by a device's signature of exactly this answer, and by nothing like it."""

import json

import pytest

from dashboards import Dashboard
from devices import Device, on_loopback, reasons, refusal, told

from .conftest import NO, YES, Gated


def test_a_device_opens_a_gate_and_the_record_says_so(gated: Gated, phone: Device) -> None:
    path = gated.answer
    status, found = phone.signed(path, YES)
    assert status == 200, found
    assert (found["via"], found["device"]) == ("device", "phone")
    session = gated.gate["session_id"]
    record = json.loads((gated.sandbox.project / "decisions" / f"{session}.json").read_text())
    assert (record["via"], record["device"], record["device_id"]) == ("device", "phone", phone.id)
    assert "device phone" in gated.sandbox.siding("decide", "show", session).stdout.decode()
    gated.sandbox.siding("phase", "next-part", "finish", "done")
    events = (gated.sandbox.project / "events.jsonl").read_text().splitlines()
    (answered,) = [each for each in map(json.loads, events) if each["event"] == "decision.answered"]
    assert answered["decision"]["device"] == "phone"
    used = told(gated.sandbox)[-1]
    assert (used["event"], used["name"], used["path"]) == ("device.used", "phone", path)
    assert b"phone, a paired device, has signed" in gated.dashboard.said
    assert b"which opens the gate of phase" in gated.dashboard.said
    (listed,) = gated.sandbox.json("devices", "--json")
    assert listed["last_used_at"]


def test_a_signature_of_anything_else_opens_nothing(gated: Gated, phone: Device) -> None:
    path = gated.answer
    yes, no = json.dumps(YES).encode(), json.dumps(NO).encode()
    said = []
    said.append(phone.post(path, yes, phone.proof(path, no, phone.challenge())))  # changed body
    elsewhere = path.replace("/answer", "/cancel")
    said.append(phone.post(path, yes, phone.proof(elsewhere, yes, phone.challenge())))
    said.append(phone.signed(path, YES, method="GET"))
    said.append(phone.signed(path, YES, origin="http://evil.example"))
    said.append(phone.signed(path, YES, origin=f"https://{phone.address.host}"))
    said.append(phone.signed(path, YES, device="0" * 16))
    for each in said:
        assert refusal(each) == "the signature is not of this request"
    assert reasons(gated.sandbox) == ["altered"] * len(said)
    other = phone.challenge("0" * 16)
    assert "another device" in refusal(phone.post(path, yes, phone.proof(path, yes, other)))
    assert reasons(gated.sandbox)[-1] == "foreign"
    for header in ("", "x", "e30", "A" * 9000):
        assert refusal(phone.post(path, yes, header)) == "the device's proof cannot be read"
    assert gated.is_shut()
    assert {each["name"] for each in told(gated.sandbox) if each["event"] == "device.used"} == set()


def test_a_challenge_is_good_once_whatever_became_of_the_request(
    gated: Gated, phone: Device
) -> None:
    path, raw = gated.answer, json.dumps(YES).encode()
    wrong = json.dumps({"decisions": [{"id": 1, "chosen": "maybe"}]}).encode()
    challenge = phone.challenge()
    status, body = phone.post(path, wrong, phone.proof(path, wrong, challenge))
    assert (status, body["error"]["code"]) == (409, "invalid_answer")
    assert "used before" in refusal(phone.post(path, raw, phone.proof(path, raw, challenge)))
    assert gated.is_shut()
    proof = phone.proof(path, raw, phone.challenge())
    assert phone.post(path, raw, proof)[0] == 200
    assert "used before" in refusal(phone.post(path, raw, proof))  # replayed
    assert reasons(gated.sandbox) == ["replayed", "replayed"]


def test_a_device_that_is_not_paired_and_one_that_was_removed(gated: Gated, phone: Device) -> None:
    stranger = on_loopback(gated.dashboard)
    assert refusal(stranger.signed(gated.answer, YES)) == "this device is not paired"
    proof_before = phone.proof(gated.answer, json.dumps(YES).encode(), phone.challenge())
    gated.sandbox.siding("devices", "remove", "phone")
    late = phone.post(gated.answer, YES, proof_before)
    assert refusal(late) == "this device is not paired any more"
    assert refusal(phone.signed(gated.answer, YES)) == "this device is not paired any more"
    assert reasons(gated.sandbox) == ["unknown", "removed", "removed"]
    assert gated.is_shut()
    assert gated.sandbox.json("devices", "--json") == []
    kept = list((gated.sandbox.directory / "siding" / "devices" / "removed").iterdir())
    assert [each.name.partition(".")[0] for each in kept] == [phone.id]


def test_a_signature_for_another_dashboard_is_foreign(gated: Gated, phone: Device) -> None:
    path, raw = gated.answer, json.dumps(YES).encode()
    challenge = phone.challenge()
    gated.dashboard.end()
    with Dashboard(gated.sandbox, "--port", str(gated.dashboard.port)) as later:
        phone.headers["Authorization"] = f"Bearer {later.key}"
        late = phone.post(path, raw, phone.proof(path, raw, challenge))
        assert "another start" in refusal(late)
        assert phone.signed(path, YES)[0] == 200  # it is paired for good, and the key is new


@pytest.mark.parametrize("act", ["apply", "close", "rollback"])
def test_what_changes_files_stays_behind_the_code(gated: Gated, phone: Device, act: str) -> None:
    base = f"/api/v1/tasks/{gated.gate['task_id']}"
    wish = {"act": act, **({"step": "base"} if act == "rollback" else {})}
    status, plan = phone.post(f"{base}/plan", wish)
    assert status == 200, plan
    body = {**wish, "digest": plan["digest"], "code": "aaaaaa"}
    assert refusal(phone.signed(f"{base}/act", body)) == "a device may not do this"
    assert refusal(phone.signed(f"{base}/switch", {})) == "a device may not do this"
    assert refusal(phone.signed("/api/v1/tasks", {"name": "x"})) == "a device may not do this"
    assert set(reasons(gated.sandbox)) == {"not for devices"}


def test_a_question_is_cancelled_by_a_signature(gated: Gated, phone: Device) -> None:
    path = gated.answer.replace("/answer", "/cancel")
    status, found = phone.signed(path, {"reason": "not today"})
    assert status == 200, found
    assert (found["state"], found["via"], found["device"]) == ("cancelled", "device", "phone")


def test_the_key_alone_still_opens_nothing(gated: Gated, phone: Device) -> None:
    status, body = phone.post(gated.answer, YES)
    assert (status, body["error"]["code"]) == (409, "code_needed")
    assert gated.is_shut()


def test_a_flood_of_refusals_does_not_fill_the_disk(gated: Gated, phone: Device) -> None:
    for _ in range(40):
        refusal(phone.post(gated.answer, YES, "x"))
    assert len(reasons(gated.sandbox)) == 30
