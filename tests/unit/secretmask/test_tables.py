"""The columns of a table whose head line names secrets, in any pieces and however long it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counted
from siding.secretmask.credit import Allowance
from siding.secretmask.face import Redactor, Stream
from siding.secretmask.span import LEFT, RIGHT

PLAIN = Redactor()
ONE, TWO, JUMBLED = "q9Zx7bKUaXG8sKl2", "Trom-bone7!", "eKajmNoPYgmwkIXf"
SECRETS = [  # these are secrets
    f" id |  password   \n----+-------------\n  1 | {TWO}\n  2 | {ONE}\n(2 rows)\n",
    f"+------+------------------+\n| user | api_key          |\n+------+------------------+\n"
    f"| bob  | {ONE} |\n| eve  | {ONE} |\n+------+------------------+\n",
    f"| user | `password` | of |\n|:---|:-:|---|\n| bob | `{TWO}` | x |\n| eve | {ONE} | y |\n",
    f"user | password\n---|---\nbob | {TWO}\n",
    f"│ id │ client_secret    │\n├────┼──────────────────┤\n│ 1  │ {ONE} │\n",
    f"user,password,role\nbob,{TWO},admin\n,{ONE},\n",
    f"user;passwort\nbob;{TWO}\n",
    f"user\tsecret\nbob\t{ONE}\r\neve\t{ONE}\r\n",
    f'"name","access_token","n"\n"a, b","{ONE}","1"\n"c","{ONE}","2"\n',
    f"user,api_key\neve,{JUMBLED}\n",
    f"Access key ID,Secret access key\nx,{ONE}\n",
    f"password,user\n{TWO},bob",
    f"NAME    PASSWORD          AGE\nadmin   {ONE}  3d\nreader  {TWO}       1d\n",
    f"Name  Password\n----  --------\nbob   {TWO}\n",
    # One table behind another, and behind something else.
    f"a,password\nb,{TWO}\nc,password,d\ne,{TWO},f\n",
    f"log in\nuser,password\nbob,{TWO}\n\nuser,x\nbob,{TWO[:4]}\n",
]
BENIGN = [
    " name | token_count | password_set \n------+-------------+-----\n bob  | 12345678 | yes\n",
    "| id | password_hash | key |\n|---|---|---|\n| 1 | 0123456789abcdef01 | 0123456789abcdef |\n",
    "user,auth_method,cache_key\nbob,scram-sha-256,user:0123456789abcdef\n",
    "user\tpassword\nbob\t********\neve\t<redacted>\nmax\t\nsam\tNULL\nkim\t${DB_PASSWORD}\n",
    "| Setting | Password | Token |\n|---|---|---|\n| x | required | from the page |\n",
    "token,count\ncovid-19,120034\nr2d2token9,7\n",
    "NAME         SECRET            AGE\nexample-com  my-app-prod-2-tls  3d\n",
    "suite,pass,fail\nunit,123456,12\nall,98.75%,1\nslow,12.345s,0\n",
    "user, password, role = row7zeros9\nx, hunter22zz9, y\n",  # no cells, but words
    f"user,password\nbob,x,{ONE}\n",  # as many cells as the head has, or it is no table
    f"user,password\n\nbob,{ONE}\n",
    f"| user | password |\n| bob | {ONE} |\n",  # nothing separates the head
    f" id | password\n----+---------\n  1 | abc\n\n  2 | {ONE}\n",
    "SELECT id,password\nFROM users,old2passwords9\n",
    f"NAME  PASSWORD  AGE\nreader{ONE}  1d\n",
]
SMALL = Allowance(block=700, fair=120, least=80, credit=2000, near=10, slack=5)


def _masked(text: str) -> str:
    return PLAIN.mask_text(text)


def _without_kinds(text: str) -> str:
    for kind in ("password", "api-key", "secret", "token", "key"):
        text = text.replace(f"[redacted:{kind}]", "***")
    return text


@pytest.mark.parametrize("before", ["", "a line\n"])
def test_the_secrets_of_a_column_go_and_all_else_stays(before: str) -> None:
    counted.add(len(SECRETS) + len(BENIGN))
    for text in SECRETS:
        expected = before + text
        for secret in (ONE, TWO, JUMBLED):
            expected = expected.replace(secret, "***")
        assert _without_kinds(_masked(before + text)) == expected
    for text in BENIGN:
        assert _masked(before + text) == before + text


def test_a_long_table_is_masked_to_its_end_and_little_is_held_back() -> None:
    stream = PLAIN.stream()
    out = [stream.feed(b"user,password,note\n")]
    for n in range(3000):
        out.append(stream.feed(b"bob%d,hunter-%dx," % (n, n)))
        assert stream.held < LEFT
        out.append(stream.feed(b"a note on it\n"))
    out.append(stream.feed(b"b,hunter-9x," + b"x" * RIGHT))  # longer than a line of a table
    assert stream.held <= RIGHT
    text = b"".join(out) + stream.close()
    assert text.count(b"[redacted:password]") == 3000
    assert text.count(b"hunter") == 1


PARTS = [
    *(each.encode() for each in SECRETS + BENIGN),
    *(line.encode() + b"\n" for text in SECRETS for line in text.split("\n")),
    *(b"user,password\n", b"b,hunter-22x\n" * 20, b"a,password\nb,c\n" * 30, b"x" * 1000),
    *(b"b," + b"y" * RIGHT + b"\n", b"a," * 600, b"token=aB3xY9-hunter\n", b"\r\n", b" "),
]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.sampled_from(PARTS), max_size=12),
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    allowance=st.sampled_from([SMALL, Allowance()]),
)
def test_any_pieces_give_what_the_whole_gives(
    texts: list[bytes], sizes: list[int], allowance: Allowance
) -> None:
    """Also where the credit is spent."""
    data = b"".join(texts)
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        pieces.append(data[at : at + sizes[len(pieces) % len(sizes)]])
        at += len(pieces[-1])
    outs = []
    for each in ([data], pieces):
        stream = Stream(PLAIN._rules, sieve_after=None, allowance=allowance)
        outs.append(b"".join(map(stream.feed, each)) + stream.close())
    assert outs[0] == outs[1]
