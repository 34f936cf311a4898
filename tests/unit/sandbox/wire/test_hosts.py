"""What a list of hosts allows, and which addresses a name may lead to."""

import pytest

from siding.agents.places import GROUPS, HOSTS, expanded
from siding.sandbox.wire.hosts import BadEntry, HostList, rule_of

LIST = HostList(
    ("api.example.org", "*.example.net:8443", "git.corp", "10.1.0.0/16", "[fd00::1]:22")
)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api.example.org", 443),
        ("api.example.org", 80),
        ("a.example.net", 8443),
        ("a.b.example.net", 8443),
        ("10.1.2.3", 443),
        ("fd00::1", 22),
    ],
)
def test_what_is_listed_is_allowed(host: str, port: int) -> None:
    assert LIST.allows(host, port)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api.example.org", 22),
        ("api.example.org.evil.net", 443),
        ("evilapi.example.org", 443),
        ("xapi.example.org", 443),
        ("example.net", 8443),
        ("evilexample.net", 8443),
        ("a.example.net", 443),
        ("", 443),
        ("10.2.0.1", 443),
        ("10.1.2.3", 22),
        ("fd00::2", 22),
        ("fd00::1", 443),
        # Other ways to write 10.1.2.3, which some resolvers take for it.
        ("10.1.515", 443),
        ("0x0a010203", 443),
        ("167838211", 443),
        ("012.1.2.3", 443),
    ],
)
def test_nothing_else_is(host: str, port: int) -> None:
    assert not LIST.allows(host, port)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "10.1.9.9", "fd00::1"])
def test_a_name_may_lead_to_public_and_to_listed_addresses(address: str) -> None:
    assert LIST.may_lead_to(address)


@pytest.mark.parametrize(
    "address",
    """
    127.0.0.1 127.9.9.9 0.0.0.0 10.2.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1
    224.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%eth0 fc00::1 ff02::1 ::ffff:127.0.0.1
    ::ffff:192.168.1.1 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 192.0.2.1 nothing
    """.split(),
)
def test_and_to_no_other(address: str) -> None:
    assert not LIST.may_lead_to(address)


@pytest.mark.parametrize(
    "entry",
    ["*", "*.", "", "a b", "http://a", "a/b", "a:0", "a:70000", "a:x", "-", "*.*.org", "a..b"],
)
def test_what_is_no_entry_is_refused(entry: str) -> None:
    with pytest.raises(BadEntry):
        rule_of(entry)


def test_names_are_compared_in_one_way() -> None:
    found = HostList(("API.Example.ORG.", "bücher.example"))
    assert found.allows("api.example.org", 443)
    assert found.allows("xn--bcher-kva.example", 443)


def test_groups_and_agents_have_good_entries() -> None:
    entries = [*GROUPS, *(each for agent in HOSTS.agents for each in HOSTS.of(agent) or ())]
    assert all(rule_of(each) for each in expanded(entries))
    assert expanded(("pip", "a.example")) == ("pypi.org", "files.pythonhosted.org", "a.example")
