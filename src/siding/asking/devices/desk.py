"""The dashboard's side of devices: pair one, and judge what one has signed."""

from siding.asking.devices.device import Device, DeviceKind, free_name, id_of_key, judged, name_from
from siding.asking.devices.proof import Challenges, Proof, SignedRequest, message, proof_from
from siding.asking.devices.refusals import DeviceRefused, Reason, require_library
from siding.asking.devices.store import Circumstances, DeviceJournal, DeviceStore, Told
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


class Claim(NamedTuple):
    """A request that claims to come from a device: `header` has its proof."""

    request: SignedRequest
    header: bytes
    peer: str


class NewDevice(NamedTuple):
    """What a browser says of the device that it wants to pair."""

    code: str
    name: str
    kind: DeviceKind
    public_key: bytes
    credential: str


class DeviceDesk:
    """The devices, as one running dashboard sees them. `project` is its name, for the journal."""

    def __init__(self, app: App, project: str) -> None:
        self._app = app
        self._project = project
        self._store = DeviceStore(app.home.devices_dir)
        self._challenges = Challenges()
        self.journal = DeviceJournal(app, self._store)

    def challenge(self, device: str) -> str:
        """Return a challenge for a device, paired or not: asking tells nothing."""
        return self._challenges.new(device)

    def is_paired(self, device_id: str) -> bool:
        """Return whether the device is paired now."""
        return self._store.is_paired(device_id)

    def judge(self, claim: Claim, event: Told = Told.USED) -> Device:
        """Return the device that has signed the request; raise DeviceRefused, and record it.

        The signature is spent: it opens nothing a second time, whatever becomes of the request.
        """
        about = self._about(claim)
        proof: Proof | None = None
        try:
            proof = proof_from(claim.header)
            device = self._store.load(proof.device)
            counter = self._verified(device, proof, claim.request)
            device = self._used(device.id, counter)
        except DeviceRefused as refused:
            self.refuse(refused.reason, about, device="" if proof is None else proof.device)
            raise
        self.journal.tell_of(event, device, about)
        return device

    def pair(self, claim: Claim, new: NewDevice) -> Device:
        """Pair a device that brings the code of the terminal and has signed with its key.

        Raises DeviceRefused, and records it.
        """
        about, device_id = self._about(claim), id_of_key(new.public_key)
        try:
            device = self._provisional(claim, new)
            proof = proof_from(claim.header)
            counter = self._verified(device, proof, claim.request)
            device = self._taken(device._replace(counter=counter), new.code)
        except DeviceRefused as refused:
            self.refuse(refused.reason, about, device=device_id)
            raise
        self.journal.tell_of(Told.PAIRED, device, about)
        return device

    def refuse(self, reason: Reason, about: Circumstances, *, device: str = "") -> None:
        """Record that something was refused."""
        name = ""
        if device and reason not in (Reason.UNKNOWN, Reason.MALFORMED, Reason.REMOVED):
            found, _problems = self._store.all()
            name = next((each.name for each in found if each.id == device), "")
        about = about._replace(reason=reason.value)
        self.journal.tell(Told.REFUSED, device=device, name=name, about=about)

    def _verified(self, device: Device, proof: Proof, request: SignedRequest) -> int:
        """Spend the challenge of a good signature, and return the authenticator's counter."""
        require_library()
        from siding.asking.devices.signatures import check_signature

        if proof.device != device.id:
            raise DeviceRefused(Reason.FOREIGN)
        self._challenges.check(device.id, proof.challenge)
        signed = message(request, device=device.id, challenge=proof.challenge)
        counter = check_signature(device, proof, signed, origin=request.origin)
        self._challenges.spend(device.id, proof.challenge)
        return counter

    def _used(self, device_id: str, counter: int) -> Device:
        """Note the use. The file is read again: the device may have been removed meanwhile."""
        with self._store.changing():
            device = self._store.load(device_id)
            if device.counter and counter <= device.counter:  # two requests at once
                raise DeviceRefused(Reason.COUNTER)
            device = device._replace(last_used_at=self._app.now(), counter=counter)
            self._store.put(device)
        return device

    def _provisional(self, claim: Claim, new: NewDevice) -> Device:
        require_library()
        from siding.asking.devices.signatures import checked_key

        key = checked_key(new.public_key)
        return Device(
            id=id_of_key(key),
            name=name_from(new.name),
            kind=new.kind,
            public_key=key,
            origin=claim.request.origin,
            created_at=self._app.now(),
            credential=new.credential if new.kind is DeviceKind.WEBAUTHN else "",
        )

    def _taken(self, device: Device, code: str) -> Device:
        """Take the offer with the code, and store the device.

        The offer is marked as taken first: cut off in between, its code is good no more.
        """
        with self._store.changing():
            offer = self._store.offer()
            left, reason = judged(offer, code, now=self._app.clock.now().timestamp())
            if left is not None and left != offer:
                self._store.put_offer(left)
            if reason is not None:
                raise DeviceRefused(reason)
            assert left is not None
            others, _problems = self._store.all()
            names = [each.name for each in others if each.id != device.id]
            device = device._replace(name=free_name(left.name or device.name, names))
            self._store.put_offer(left._replace(used_by=device.id))
            self._store.put(device)
        return device

    def _about(self, claim: Claim) -> Circumstances:
        return Circumstances(
            project=self._project,
            method=claim.request.method,
            path=claim.request.path,
            peer=claim.peer,
        )
