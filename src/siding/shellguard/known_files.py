"""Files that are known by their names: those that steer agents and tools, and credentials.

Agents and tools obey some files of a project when they start: a change of such a file is a change
of what may happen next.
"""

import re
from fnmatch import fnmatchcase
from functools import cache

from siding.shellguard.names import ordered

# Read by agents of any kind, by editors that have one, and by tools; what a known agent reads
# beside it is told by `JudgingPlace.obeyed`. A text named in capitals has variants:
# AGENTS.override.md, CLAUDE.local.md.
_BY_ANYBODY = ordered("""
    AGENTS.md CONVENTIONS.md SKILL.md
    .cursorrules .windsurfrules .clinerules .mcp.json .envrc
    .siding/ .cursor/ .windsurf/ .continue/ .cline/ .roo/ .husky/ .githooks/ .devcontainer/
""")
_ON_GITHUB = r"\.github/(?:copilot-instructions\.md|agents/)"
# Such a file anywhere below a directory whose name starts with a dot.
_BY_NAME = (
    r"(?:policy|policies|permissions?|hooks?|settings|tasks|launch|mcp|allow(?:list)?)"
    r"(?:\.[\w-]+)*\.(?:json|jsonc|ya?ml|toml)$"
)


def steers(within: str, obeyed: tuple[str, ...]) -> bool:
    """Return whether a file of the workspace steers an agent or a tool.

    `obeyed` are the names that known agents go by.
    """
    return bool(_pattern(obeyed).search(within)) or _steers_by_name(within)


@cache
def _pattern(obeyed: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when it is first used: many a command touches no file."""
    names = (*_BY_ANYBODY, *obeyed)
    texts = [name.removesuffix(".md") for name in names if name.endswith(".md")]
    directories = [name.removesuffix("/") for name in names if name.endswith("/")]
    files = [name for name in names if not name.endswith((".md", "/"))]
    return re.compile(
        rf"(?:^|/)(?:(?:{_any_of(texts)})\.(?:md|local\.md|override\.md)$"
        rf"|(?:{_any_of(files)})$|(?:{_any_of(directories)})(?:/|$)|{_ON_GITHUB})"
    )


def _any_of(names: list[str]) -> str:
    return "|".join(map(re.escape, names))


def _steers_by_name(within: str) -> bool:
    *directories, name = within.split("/")
    if not re.match(_BY_NAME, name):
        return False
    for directory in reversed(directories):
        if re.fullmatch(r"\.[\w-]+", directory):
            return True
        if not re.fullmatch(r"[\w.-]+", directory):
            return False
    return False


# -- credentials -----------------------------------------------------------------------------------

# These patterns are texts, compiled by `re` at their first use: most commands touch no file.
#
# No two branches may match the same part of a path: an agent chooses the path, and with
# backtracking a long one would take quadratic time or worse.
_SECRET_FILES = (
    r"(?s)(?:^|/)(?:"
    r"\.ssh(?:/(?!known_hosts$|config$|[^/]*\.pub$)[^/]*)?"
    r"|\.gnupg(?:/.*)?|\.aws(?:/.*)?|\.azure(?:/.*)?|\.kube(?:/.*)?|\.password-store(?:/.*)?"
    r"|\.config/(?:gcloud|gh|op|hub|doctl|rclone|glab-cli)(?:/.*)?|\.docker/config\.json"
    r"|\.netrc|_netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.my\.cnf|\.htpasswd|pip\.conf"
    r"|\.?\w+_history|\.vault-token|\.terraformrc"
    r"|\.(?:config/|local/share/)?[\w.-]+/(?:\.?credentials?|[\w-]*auth|oauth_creds|tokens?)(?:\.json|\.toml|\.ya?ml)?"
    r"|credentials\.json|service[-_]?account[\w-]*\.json|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.env(?:\.(?!example$|sample$|template$|dist$|defaults?$)[\w.-]+)?|\.envrc\.local"
    r"|[\w.-]+\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk)|(?=[\w.-]*(?:private|secret))[\w.-]*\.key"
    r"|secrets?\.(?:json|ya?ml|toml|env|txt|ini)"
    r"|shadow-?|gshadow-?|master\.passwd|sudoers|krb5\.keytab|environ"
    r"|Keychains(?:/.*)?|Login Data|cookies\.sqlite|key[34]\.db|logins\.json"
    # Files of a project that hold its secrets, and are seldom read for anything else.
    r"|[\w.-]*tfstate(?:\.backup)?|(?!example|sample)[\w.-]*\.tfvars(?:\.json)?|\.dev\.vars"
    r"|master\.key|wp-config\.php|local\.settings\.json|[\w.-]*firebase-adminsdk[\w.-]*\.json"
    r"|[\w.-]+\.(?:agekey|ovpn)|wallet\.dat|state\.vscdb(?:\.backup)?|\.?vault_pass(?:word)?(?:\.txt)?"
    r")$"
)
# What else programs keep for themselves in a home: sessions, tokens, keys, what was typed. A
# name with a slash at its end stands for all that is below it.
KEPT = ordered("""
    .config/google-chrome/ .config/google-chrome-beta/ .config/chromium/ .config/BraveSoftware/
    .config/microsoft-edge/ .config/vivaldi/ .config/opera/ .mozilla/ .thunderbird/ .librewolf/
    .zen/ .var/app/ snap/firefox/ snap/chromium/ Google/Chrome/ Firefox/Profiles/
    .local/share/keyrings/ .local/share/kwalletd/ .kde/share/apps/kwallet/
    .config/Code/User/globalStorage/ .config/Cursor/User/globalStorage/ .config/configstore/
    .config/VSCodium/User/globalStorage/ .config/Windsurf/User/globalStorage/
    .config/Slack/ .config/discord/ .config/Signal/ .config/Element/ .purple/
    .local/share/TelegramDesktop/
    .claude.json .gemini/google_accounts.json .config/github-copilot/ .continue/config.json
    .config/io.datasette.llm/keys.json .augment/session.json .anthropic/ .config/anthropic/
    .openai/ .codeium/config.json
    .lesshst .viminfo .mongosh/ ConsoleHost_history.txt
    .terraform.d/credentials.tfrc.json .m2/settings.xml .m2/settings-security.xml
    .gradle/gradle.properties .config/pypoetry/config.toml .boto .s3cfg .passwd-s3fs
    .mc/config.json .databrickscfg .databricks/token-cache.json .fly/ .config/fly/ .kaggle/
    .config/kaggle/ .cache/huggingface/token .cache/huggingface/stored_tokens .oci/ .bluemix/
    .aliyun/ .config/scw/ .config/hcloud/ .config/linode-cli .config/neonctl/ .config/turso/
    .config/planetscale/ .nuget/NuGet/NuGet.Config .config/NuGet/NuGet.Config
    .netlify/config.json .config/netlify/config.json .local/share/com.vercel.cli/ .config/heroku/
    .config/stripe/ .config/ngrok/ .ngrok2/ .cloudflared/ .wrangler/config/ .config/.wrangler/
    .supabase/access-token .railway/config.json .snowsql/config .snowflake/ .dbt/profiles.yml
    .sentryclirc .expo/state.json .hex/hex.config .config/git/credentials .doppler/ .infisical/
    .config/containers/auth.json .dockercfg .config/helm/registry/ .mylogin.cnf .pg_service.conf
    .twurlrc .config/filezilla/ .msmtprc .fetchmailrc .subversion/auth/ .rclone.conf .ovhrc
    .config/1Password/ .config/Bitwarden/ .bitcoin/ .ethereum/keystore/ .electrum/ .monero/
    .config/solana/ .config/Exodus/ .foundry/keystores/ .config/sops/ .config/age/ .minisign/
    .Xauthority .ICEauthority .pki/
""")
_SYSTEM_SECRETS = (
    r"^/(?:etc/(?:shadow|gshadow|sudoers|ssh/ssh_host|master\.passwd"
    r"|krb5\.keytab|ssl/private/|letsencrypt/(?:live|archive|keys)/|wireguard/)|proc/[^/]+/(?:environ|mem|fd)|root(?:/|$)"
    r"|run/secrets|var/run/secrets)"
)
SECRET_NAMES = ("shadow", "gshadow", "environ", "sudoers", "krb5.keytab", "master.passwd")


def is_secret_path(path: str) -> bool:
    """Return whether credentials are usually kept in a file with this path."""
    return (
        bool(re.match(_SYSTEM_SECRETS, path))
        or (bool(re.search(_SECRET_FILES, path)) and not path.endswith(_NOT_SECRET))
        or bool(_kept().search(path))
    )


@cache
def _kept() -> re.Pattern[str]:
    names = (
        re.escape(name[:-1]) + "(?:/|$)" if name[-1] == "/" else re.escape(name) + "$"
        for name in KEPT
    )
    return re.compile(rf"(?:^|/)(?:{'|'.join(names)})")


_NOT_SECRET = ("/shadow", "/environ", "/sudoers", "/gshadow")  # elsewhere they are just names


# One of each kind, to see whether a pattern may match some.
_SAMPLES = ordered("id_rsa id_ed25519 .env server.pem credentials auth.json cookies.sqlite")


def finds_secrets(pattern: str) -> bool:
    """Return whether a pattern for names, such as ``*.pem``, may find files of credentials."""
    return bool(pattern.strip("*?.")) and any(fnmatchcase(each, pattern) for each in _SAMPLES)


SECRET_DIRECTORIES = ordered("""
    .ssh .gnupg .aws .azure .kube .docker .password-store .config/gh .config/gcloud .config/op
    .mozilla .config/google-chrome .config/chromium .config/github-copilot .config/Code
    .local/share/keyrings .local/share/opencode .claude .codex .gemini .m2 .gradle .bitcoin
""")
