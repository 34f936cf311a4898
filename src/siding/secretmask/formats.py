"""Tokens with a known prefix.

The prefixes are the ones that issuers document, or print in their examples, so that scanners can
find their tokens. A rule has a kind, prefixes, and a pattern for the rest. The pattern has a
smallest length but no largest: a longer token is a token too. A pattern is compiled when its prefix
is first met.
"""

import re
from collections.abc import Iterator
from functools import cache

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.lazily import lazily
from siding.secretmask.span import RIGHT, SecretSpan

BEHIND_TOKEN = lazily(rb"[^A-Za-z0-9._~+/=%-]")
_WORD = r"[A-Za-z0-9_-]"
_HEX = r"[a-f0-9]"
_ALNUM = r"[A-Za-z0-9]"
_END = r"(?![A-Za-z0-9])"
_WITH_DIGIT = r"(?=[A-Za-z_-]{0,64}[0-9])"
_CASES = r"(?=[A-Z0-9]{0,31}[a-z])(?=[a-z0-9]{0,31}[A-Z])"
_MIXED = r"(?=[a-z_.-]{0,64}[A-Z0-9])"

# kind: prefixes (separated by blanks), and what follows them
_TABLE: tuple[tuple[str, str, str], ...] = (
    ("anthropic-key", "sk-ant-", _WORD + "{20,}+"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-org-", _WORD + "{20,}+"),
    ("openrouter-key", "sk-or-", _WORD + "{20,}+"),
    ("langfuse-key", "sk-lf-", _WORD + "{20,}+"),
    ("api-key", "sk-", _MIXED + _WORD + "{20,}+"),
    ("google-key", "AIza", _WORD + "{30,}+"),
    ("google-token", "ya29.", r"[A-Za-z0-9._-]{20,}+"),
    ("google-token", "1//0", _WORD + "{20,}+"),
    ("google-secret", "GOCSPX-", _WORD + "{20,}+"),
    ("huggingface-token", "hf_ api_org_", _ALNUM + "{28,}+"),
    ("groq-key", "gsk_", _ALNUM + "{20,}+"),
    ("xai-key", "xai-", _MIXED + _ALNUM + "{20,}+"),
    ("perplexity-key", "pplx-", _ALNUM + "{20,}+"),
    ("replicate-token", "r8_", _ALNUM + "{28,}+"),
    ("nvidia-key", "nvapi-", _WORD + "{30,}+"),
    ("fireworks-key", "fw_", _MIXED + _ALNUM + "{20,}+"),
    ("cerebras-key", "csk-", _MIXED + _ALNUM + "{30,}+"),
    ("tavily-key", "tvly-", _MIXED + _WORD + "{20,}+"),
    ("pinecone-key", "pcsk_", _WORD + "{20,}+"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_ ls__", _MIXED + _WORD + "{20,}+"),
    ("together-key", "tgp_v1_", _WORD + "{20,}+"),
    ("jina-key", "jina_", _MIXED + _WORD + "{40,}+"),
    ("aws-key", "AKIA ASIA ABIA ACCA", r"(?![A-Z0-9]*EXAMPLE)[A-Z0-9]{16}" + _END),
    ("aws-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/=]{40,}+"),
    ("aws-key", "ABSK", r"(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9+/]{60,}+=*"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{40,}+"),
    ("heroku-key", "HRKU-", _WORD + "{30,}+"),
    ("fly-token", "fm1_ fm2_ fm1a_ fm2a_ fm1r_ fo1_", r"[A-Za-z0-9+/=,_-]{20,}+"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_", _ALNUM + "{30,}+"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", _MIXED + _WORD + "{24,}+"),
    ("render-key", "rnd_", _MIXED + _ALNUM + "{20,}+"),
    ("supabase-key", "sbp_ sb_secret_", _MIXED + _WORD + "{20,}+"),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9_.=-]{20,}+"),
    ("neon-key", "napi_", _MIXED + _ALNUM + "{30,}+"),
    ("databricks-token", "dapi", _HEX + r"{32}(?:-\d)?" + _END),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._-]{30,}+"),
    ("vault-token", "hvs. hvb. hvr.", _WORD + "{20,}+"),
    ("pulumi-token", "pul-", _HEX + "{40}" + _END),
    ("alibaba-key", "LTAI", _WITH_DIGIT + _ALNUM + "{12,}+"),
    ("tencent-key", "AKID", _WITH_DIGIT + _ALNUM + "{28,}+"),
    ("yandex-key", "AQVN", _WITH_DIGIT + _WORD + "{30,}+"),
    ("cloudflare-token", "v1.0-", _HEX + r"{24}-" + _HEX + "{100,}+"),
    ("cloudflare-token", "cfut_ cfat_ cfk_", _MIXED + _WORD + "{30,}+"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM + "{20,}+"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{20,}+"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glagent- gloas- glft- glimt- glffct- glrtr-",
        _MIXED + r"[A-Za-z0-9_.=-]{16,}+",
    ),
    ("gitlab-token", "GR1348941", _WORD + "{16,}+"),
    ("bitbucket-token", "ATBB", _WITH_DIGIT + _ALNUM + "{24,}+"),
    ("atlassian-token", "ATATT3 ATCTT3 ATSTT3", r"[A-Za-z0-9_=-]{40,}+"),
    ("trello-token", "ATTA", _HEX + "{50,}+"),
    ("npm-token", "npm_", _MIXED + _ALNUM + "{30,}+"),
    ("pypi-token", "pypi-AgE pypi-AgEI", _WORD + "{20,}+"),
    ("gem-key", "rubygems_", _HEX + "{40,}+"),
    ("crates-token", "cio", _CASES + _ALNUM + "{32}" + _END),
    ("nuget-key", "oy2", r"[a-z0-9]{43}" + _END),
    ("docker-token", "dckr_pat_ dckr_oat_", _WORD + "{20,}+"),
    ("jfrog-key", "AKCp", _ALNUM + "{20,}+"),
    ("jfrog-token", "cmVmdGtuO", _ALNUM + "{20,}+"),
    ("clojars-token", "CLOJARS_", _HEX + "{40,}+"),
    ("composer-token", "packagist_", r"[a-z]{2,4}_" + _HEX + "{40,}+"),
    (
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.",
        r"[A-Za-z0-9.%-]{10,}+",
    ),
    ("slack-token", "xapp- xwfp-", _MIXED + r"[A-Za-z0-9-]{20,}+"),
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", _ALNUM + "{12,}+"),
    ("stripe-secret", "whsec_", r"[A-Za-z0-9+/]{20,}+=*"),
    ("twilio-key", "SK", _HEX + "{32}" + _END),
    ("sendgrid-key", "SG.", _WORD + r"{16,}+\." + _WORD + "{20,}+"),
    ("mailgun-key", "key-", _HEX + "{32}" + _END),
    ("brevo-key", "xkeysib- xsmtpsib-", _HEX + r"{40,}+(?:-" + _ALNUM + "+)?"),
    ("resend-key", "re_", _ALNUM + r"{6,10}_(?=[A-Za-z]{0,64}[0-9])" + _ALNUM + "{20,}+"),
    ("square-token", "EAAA", _WITH_DIGIT + _WORD + "{40,}+"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", _WORD + "{20,}+"),
    ("facebook-token", "EAA", _WITH_DIGIT + _ALNUM + "{60,}+"),
    ("paypal-token", "access_token$", r"(?:production|sandbox)\$[A-Za-z0-9$]{20,}+"),
    ("plaid-token", "access-sandbox- access-development- access-production-", r"[a-f0-9-]{30,}+"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[A-Fa-f0-9]{28,}+"),
    ("flutterwave-key", "FLWSECK-", r"[A-Za-z0-9-]{16,}+"),
    ("flutterwave-key", "FLWSECK_TEST-", r"[A-Za-z0-9-]{12,}+"),
    ("razorpay-secret", "rzp_secret_", _ALNUM + "{14,}+"),
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", _ALNUM + "{20,}+"),
    ("notion-token", "ntn_ secret_", _MIXED + _ALNUM + "{36,}+"),
    ("figma-token", "figd_ figo_ figu_ figr_ figoh_ figor_ figdr_ figuh_", _WORD + "{30,}+"),
    ("airtable-token", "pat", _ALNUM + r"{14}\." + _HEX + "{40,}+"),
    ("asana-token", "0/ 1/ 2/", _HEX + "{32}" + _END),
    ("dropbox-token", "sl.", r"(?:u\.)?" + _MIXED + _WORD + "{60,}+"),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", r"[a-f0-9-]{30,}+"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_.-]{30,}+"),
    ("contentful-token", "CFPAT-", _WORD + "{30,}+"),
    ("postman-key", "PMAK-", _HEX + r"{24}-" + _HEX + "{30,}+"),
    (
        "launchdarkly-key",
        "sdk- api-",
        _HEX + r"{8}-" + _HEX + r"{4}-4" + _HEX + r"{3}-[a-f0-9-]{17}",
    ),
    ("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", r"[A-Za-z0-9+/=_.-]{40,}+"),
    ("newrelic-key", "NRAK- NRII- NRIQ- NRRA-", r"[A-Za-z0-9-]{20,}+"),
    ("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/=_-]{30,}+"),
    ("grafana-key", "eyJrIjoi", r"[A-Za-z0-9+/=]{40,}+"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{20,}+\.[A-Z0-9]{50,}+"),
    ("sonar-token", "squ_ sqp_ sqa_", _HEX + "{40}" + _END),
    ("circleci-token", "CCIPAT_ CCIPRJ_", _WORD + "{20,}+"),
    ("buildkite-token", "bkua_ bkat_ bkpt_", _ALNUM + "{30,}+"),
    ("mapbox-token", "sk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{10,}+"),
    ("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[0-9A-Z-]{40,}+"),
    (
        "jwt",
        "eyJ",
        _WORD + r"{8,}+(?:(?:\." + _WORD + r"*+){2,4}|\." + _WORD + "{200,}+)",
    ),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9_=.-]{40,}+"),
    ("wallet-key", "xprv yprv zprv tprv", r"[1-9A-HJ-NP-Za-km-z]{90,}+"),
    ("prefect-key", "pnu_ pnb_", _ALNUM + "{36}" + _END),
    # DER in Base64: PKCS 8 (RSA, EC, Ed25519, X25519), PKCS 1, SEC 1 and PKCS 12.
    (
        "key-without-armour",
        "MII",
        r"[A-Za-z0-9+/]{3}IB(?:ADANBgkqhkiG9w0BAQ|AAKC|AzCC)[A-Za-z0-9+/]{16,}+",
    ),
    ("key-without-armour", "MIGHAgEAMBMGByqGSM49 MHcCAQEEI", r"[A-Za-z0-9+/]{16,}+"),
    ("key-without-armour", "MC4CAQAwBQYDK2VwBCIEI MC4CAQAwBQYDK2VuBCIEI", r"[A-Za-z0-9+/]{16,}+"),
    ("signing-key", "RWRTY0Iy RWRCS", r"[A-Za-z0-9+/]{80,}+=*"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,}+"),
    (
        "prefixed-key",
        "ddp_ dd_api_ sntry_ phx_ phc_secret_ ubn_ tskey- lip_",
        _MIXED + _WORD + "{24,}+",
    ),
    (
        "tailscale-key",
        "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-",
        _WORD + "{16,}+",
    ),
    ("frame-token", "fio-u-", _WORD + "{40,}+"),
    ("easypost-key", "EZAK EZTK", _ALNUM + "{50,}+"),
    ("duffel-token", "duffel_live_ duffel_test_", _WORD + "{30,}+"),
    ("infracost-key", "ico-", _ALNUM + "{32}" + _END),
    ("scaleway-key", "SCW", r"(?=[A-Z]{0,64}[0-9])[A-Z0-9]{17}" + _END),
    ("voiceflow-key", "VF.DM. VF.WS.", r"[A-Za-z0-9.]{30,}+"),
    # Base64 of a text that begins with one of the most widespread prefixes.
    (
        "encoded-token",
        "Z2hwX Z2hvX Z2hzX Z2h1X Z2hyX Z2l0aHViX3BhdF Z2xwYXQt c2stYW50L c2stcHJvai c2tfbGl2ZV "
        "cmtfbGl2ZV eG94Yi eG94cC QUtJQ bnBtX cHlwaS1BZ0",
        r"(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9+/_-]{18,}+=*",
    ),
    (
        "private-key",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBFQyBQUklWQVRF "
        "LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBFTkNSWVBURUQg LS0tLS1CRUdJTiBEU0EgUFJJVkFURS "
        "LS0tLS1CRUdJTiBQR1AgUFJJVkFURS",
        r"[A-Za-z0-9+/_-]{16,}+=*",
    ),
)

# Tokens of several words joined by dots or colons, by the character before their last long word.
# They have no prefix of three known bytes, so they are found from that last word.
_JOINED: tuple[tuple[str, str, str], ...] = (
    (".", "terraform-token", _ALNUM + r"{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}+"),
    (".", "discord-token", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}+"),
    (".", "discord-token", r"mfa\.[A-Za-z0-9_-]{60,}+"),
    (
        ".",
        "vault-token",
        r"s\.(?=[a-z]{0,64}[A-Z0-9])(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9]{24}" + _END,
    ),
    (":", "telegram-token", r"\d{8,11}:AA[A-Za-z0-9_-]{30,}+"),
    (":", "asana-token", r"[012]/\d{10,}(?:/\d{10,})?:[a-f0-9]{32}" + _END),
    (":", "firebase-key", r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{100,}+"),
)
_SUFFIXED = (
    ("mailchimp-key", _HEX + r"{32}-us\d{1,2}" + _END),
    ("azure-secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,}+"),
)


class Format(NamedTuple):
    """The compiled rule for one prefix; `pattern` matches the whole token."""

    kind: bytes
    prefix: bytes
    pattern: re.Pattern[bytes]


@cache
def _by_start() -> dict[bytes, tuple[tuple[str, bytes, str], ...]]:
    """Return the rules by the first three bytes of their prefix, longest prefix first."""
    found: dict[bytes, list[tuple[str, bytes, str]]] = {}
    for kind, prefixes, rest in _TABLE:
        for word in prefixes.split():
            prefix = word.encode()
            rule = (kind, prefix, rest)
            for start in _three(prefix):
                found.setdefault(start, []).append(rule)
    return {
        start: tuple(sorted(rules, key=lambda rule: -len(rule[1])))
        for start, rules in found.items()
    }


def _three(prefix: bytes) -> Iterator[bytes]:
    """Yield the three bytes a token can begin with; a shorter prefix is followed by a hex digit."""
    if len(prefix) >= 3:
        yield prefix[:3]
    else:
        yield from (prefix + bytes([each]) for each in b"0123456789abcdef")


@cache
def _compiled(kind: str, prefix: bytes, rest: str) -> Format:
    pattern = re.compile(re.escape(prefix) + rest.encode())
    return Format(kind=kind.encode(), prefix=prefix, pattern=pattern)


@cache
def heads() -> re.Pattern[bytes]:
    """Return the pattern of a gap before a prefix, by up to four bytes, or before a suffix.

    It takes two milliseconds to compile.
    """
    by_first: dict[bytes, list[bytes]] = {}
    for start, fourth in FOURTH.items():
        rest = re.escape(start[1:]) + (b"" if fourth is _ANY else b"[%b]" % re.escape(fourth))
        by_first.setdefault(re.escape(start[:1]), []).append(rest)
    trees = [b"%b(?:%b)" % (first, b"|".join(rests)) for first, rests in by_first.items()]
    return re.compile(rb"~|[_-](?:us|%b)" % b"|".join(trees))


@cache
def joined(joint: bytes) -> tuple[tuple[bytes, re.Pattern[bytes]], ...]:
    """Return the kind and pattern of each joined token whose last word comes after `joint`."""
    return tuple(
        (kind.encode(), re.compile(text.encode()))
        for each, kind, text in _JOINED
        if each.encode() == joint
    )


@cache
def suffixed() -> tuple[tuple[bytes, re.Pattern[bytes]], ...]:
    """Return the kind and pattern of each token that is known by its middle or end."""
    return tuple((kind.encode(), re.compile(text.encode())) for kind, text in _SUFFIXED)


def token_at(data: bytes, at: int, limit: int) -> tuple[bytes, int] | None:
    """Return the kind and the end of the token that begins at `at`, None if there is none."""
    for kind, prefix, rest in _by_start().get(data[at : at + 3], ()):
        if data.startswith(prefix, at):
            form = _compiled(kind, prefix, rest)
            found = form.pattern.match(data, at, min(limit, at + RIGHT))
            if found is not None:
                end = found.end()
                if _stands_for_one(data[at + len(prefix) : end]):
                    return None
                if end == at + RIGHT:  # the pattern was stopped by the limit: find the real end
                    behind = BEHIND_TOKEN.search(data, end, limit)
                    end = limit if behind is None else behind.start()
                return form.kind, end
    return None


def _stands_for_one(rest: bytes) -> bool:
    """Return whether what is behind the prefix only shows where a token goes."""
    return b"xxxxxxxx" in rest.lower() or len(set(rest)) <= 2


STARTS = frozenset(_by_start())  # the first three bytes of every token with a prefix
# Of the prefixes of letters and digits alone.
PLAIN_STARTS = frozenset(
    start for start, rules in _by_start().items() if any(prefix.isalnum() for _, prefix, _ in rules)
)
_ANY = bytes(range(256))
# The bytes that may come behind them: most words that begin alike do not go on alike.
FOURTH = {
    start: _ANY
    if any(len(prefix) < 4 for _, prefix, _ in rules)
    else bytes(prefix[3] for _, prefix, _ in rules)
    for start, rules in _by_start().items()
}


# -- Find the hashes of passwords, as in ``/etc/shadow`` -------------------------------------------


_HASH = lazily(
    rb"\$(?:(?:apr1|1)\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{20,}"
    rb"|2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,}"
    rb"|[56]\$(?:rounds=\d+\$)?[^$\s:]{1,16}\$[./A-Za-z0-9]{40,}"
    rb"|(?:y|gy|7)\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{40,}"
    rb"|argon2(?:id|i|d)\$[A-Za-z0-9=,$+/]{20,}"
    rb"|(?:scrypt|pbkdf2(?:-sha\d+)?)\$[A-Za-z0-9=,$+/.]{20,}|[PH]\$[./A-Za-z0-9]{31}"
    rb"|\d{4,8}\$[A-Za-z0-9./]{6,32}\$[A-Za-z0-9+/]{20,}=*)"
)


def password_hashes(data: bytes, limit: int) -> Iterator[SecretSpan]:
    """Yield the hashes; what they begin with says how they were made."""
    for found in _HASH.finditer(data):
        start, end = found.span()
        until = None if end < limit else BEHIND_TOKEN
        yield SecretSpan(start, end, b"password-hash", until=until)
