"""Through which proxy of the person's a server is reached."""

import pytest

from siding.sandbox.wire.spec import CannotGoVia, Via, variables_in, via_for

ENV = {"HTTPS_PROXY": "http://u:p%40s@proxy.corp:3128", "no_proxy": "intern.corp, .example.org:443"}


def test_it_is_the_one_of_the_variables() -> None:
    found = via_for(variables_in(ENV), "api.example.net", tls=True)
    assert found == Via("proxy.corp", 3128, "Basic dTpwQHM=")
    assert via_for(variables_in(ENV), "api.example.net", tls=False) is None
    assert via_for({"all_proxy": "proxy.corp"}, "a", tls=False) == Via("proxy.corp", 80)


@pytest.mark.parametrize("host", ["intern.corp", "a.intern.corp", "www.example.org", "localhost"])
def test_exceptions_are_reached_directly(host: str) -> None:
    assert via_for(variables_in(ENV), host, tls=True) is None


def test_other_kinds_of_proxies_are_not_passed_over() -> None:
    with pytest.raises(CannotGoVia):
        via_for({"all_proxy": "socks5://proxy.corp:1080"}, "a", tls=True)
