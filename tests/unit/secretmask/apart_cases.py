"""Secrets whose names stand apart from them, and those behind words that are no name."""

import random
import string

_random = random.Random(9)  # not that of the other cases, whose values depend on what was drawn
_ALNUM = string.ascii_letters + string.digits


def any_of(count: int, letters: str = _ALNUM) -> str:
    return "".join(_random.choice(letters) for _ in range(count))


def hexa(count: int) -> str:
    return any_of(count, "0123456789abcdef")


def uuid() -> str:
    return f"{hexa(8)}-{hexa(4)}-4{hexa(3)}-a{hexa(3)}-{hexa(12)}"


_NAMES = ("DB_PASS", "DB_PASSWORD", "SMTP_PW", "REDIS_PASSWD", "API_TOKEN", "CLIENT_SECRET")


def _value() -> str:
    return any_of(6) + "7" + any_of(5, _ALNUM + "!@#^*") + "x"


def _apart(name: str) -> list[tuple[str, str, str]]:
    return [
        (f"env:\n  - name: {name}\n    value: ", _value(), '\n  - name: PORT\n    value: "80"\n'),
        (f'  - name: {name}\n    value: "', _value(), '"\n'),
        ("- value: ", _value(), f"\n  name: {name}\n"),
        (f'{{\n  "name": "{name}",\n  "value": "', _value(), '"\n},'),
        ('{\n "value": "', _value(), f'",\n "name": "{name}"\n}}'),
        (f'"ParameterKey": "{name}",\n "ParameterValue": "', _value(), '"'),
        (f'<add key="{name}" value="', _value(), '"/>'),
        ('<add value="', _value(), f'" key="{name}"/>'),
        (f"<name>{name}</name>\n  <value>", _value(), "</value>"),
        (f"| {name} | ", _value(), " |"),
        (f"{name}\t", _value(), "\n"),
        (f"export {name}=", _value(), "\n"),
    ]


SECRETS: list[tuple[str, str, str]] = [
    *(each for name in _NAMES for each in _apart(name)),
    ('secret_string = "', _value(), '"'),
    ('random_password.db.result = "', any_of(15) + "3", '"'),
    ('<entry key="db.password">', _value(), "</entry>"),
    ('<property name="hibernate.connection.password" value="', _value(), '"/>'),
    ("CREATE USER bob IDENTIFIED BY '", _value(), "';"),
    ("create user 'a' identified with caching_sha2_password by '", _value(), "'"),
    ("ALTER USER scott IDENTIFIED BY ", any_of(6) + "9x", ";"),
    (" password | ", _value(), "\n"),
    ("| `api_key` | `", any_of(31) + "4", "` |"),
    # What a sentence says, and names of two words.
    ("Initial root password is ", any_of(12) + "aZ7", "\n"),
    ("the API token is ", any_of(20) + "aZ7", ".\n"),
    ("Your new API token is: ", any_of(38) + "k9", " (it is not shown again)"),
    ("A temporary password is generated for root@localhost: ", any_of(8) + "a7!Q", "\n"),
    ("the following password to proceed to installation:\n\n", hexa(32), "\n\nThis may also"),
    *((f"{name}: ", any_of(38) + "k9", "\n") for name in ("Created API key", "Secret key")),
    ("Unseal Key 1: ", any_of(43) + "9", "\n"),
    # What goes into a program that reads a secret.
    ("+ echo ", _value(), " | docker login -u ci --password-stdin reg.example.org\n"),
    ("printf '%s' \"", _value(), '" | gh auth login --with-token\n'),
    ("echo ", _value(), " | sudo chpasswd\n"),
    ("wrangler secret put API_TOKEN <<< '", any_of(40), "'\n"),
    ("xh -a bob:", _value(), " https://api.example.com/x"),
    ("cosign login reg.example.org -u bot -p ", _value(), "\n"),
    ("SignedHeaders=host;x-amz-date, Signature=", hexa(64), "\n"),
    ("spring.datasource.password=", "BQmzbhumvCxDAD", "\n"),
    ("terraform plan -var 'db_password=", "RUPeqZWnBfKXeRjRBz", "'"),
    ('network={\n\tssid="home"\n\tpsk="', "correct horse 7", '"\n\tkey_mgmt=WPA-PSK\n}'),
    ("\tpsk=", hexa(64), "\n"),
    ('\t#psk="', "hunter22xx", '"\n'),
    ("[wifi-security]\nkey-mgmt=wpa-psk\npsk=", "hunter22xx", "\n"),
    ("CREATE USER x IDENTIFIED BY '", "hunter 22 xx", "';\n"),
    ("poetry config http-basic.ours me ", "hunter22xx", "\n"),
    ('poetry config --local http-basic.ours me "', "hunter-22 xx", '"\n'),
    ("rclone config create ours sftp host h user me pass ", "hunter22xx", " port 22\n"),
    ("rclone config password ours pass ", "hunter22xx", "\n"),
    ("rclone obscure ", "hunter22xx", "\n"),
    ("mvn sonar:sonar -Dsonar.login=", hexa(40), " -X"),
    ("snyk auth ", uuid(), "\n"),
    ("snyk config set api=", uuid(), "\n"),
    ("localhost:5432:app:bob:", any_of(9) + "1", "\n"),
    ("*:*:*:postgres:", any_of(9) + "1", "\n"),
    ("requirepass ", any_of(9) + "1", "\n"),
    ("masterauth ", any_of(9) + "1", "\n"),
    ("net use Z: \\\\srv\\share ", any_of(9) + "1", " /user:CORP\\bob"),
    ("net use \\\\10.0.0.1\\c$ /user:bob ", any_of(9) + "1", "\n"),
    ("echo ", any_of(9) + "1", " | sudo -S apt update"),
    ("printf '%s\\n' ", any_of(9) + "1", " | sudo -S ls"),
    ("sudo -S ls <<< ", any_of(9) + "1", "\n"),
    ("Enter passphrase: ", any_of(9) + "1", "\n"),
    ("Enter passphrase for key '/home/b/.ssh/id_rsa': ", any_of(9) + "1", "\n"),
    ("Enter PEM pass phrase: ", any_of(9) + "1", "\n"),
    ("Enter password for bob: ", any_of(9) + "1", "\n"),
]
BENIGN = [
    "token: ghp_" + "x" * 36,
    "AKIA" + "X" * 16,
    "eos_token='<|endoftext|>'",
    '"pad_token": "<|pad|>"',
    "- name: DB_PASS\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password",
    "- name: DB_PASS\n  value: $(OTHER)",
    "- name: TOKEN_COUNT\n  value: 123456789",
    "- name: HOST\n  value: db-1234.internal\n- name: DB_PASS\n  valueFrom: x",
    '{"value": "us-east-1a2b", "name": "REGION"}',
    '{"value": "abcd1234efgh"},\n{"name": "DB_PASS"}',
    '[{"label": "Password", "value": "password"}]',
    '<add key="PasswordResetUrl" value="https://x.y/1"/>',
    '<property name="password" value="${db.password}"/>',
    '<entry key="title">abc12345</entry>',
    "| password | description |",
    "| password | string | The password |",
    "| token | expires_at |",
    "| build | 0123abcd |",
    "password\tstring\n",
    "is identified by id 12345",
    "IDENTIFIED BY 'password'",
    "psk=8",
    "psk=qpsk",
    "mod_psk=hunter22xx-shift-keying",
    'psk="$PSK"',
    'psk="${WIFI_PSK}"',
    "psk=$WIFI_PSK",
    "key_mgmt=WPA-PSK",
    "let psk=read_phrase_of_network(7)",
    'poetry config http-basic.ours me "$PASSWORD"',
    "poetry config http-basic.ours me && poetry install --no-root",
    "poetry config --unset http-basic.ours",
    "poetry config repositories.ours https://pypi.example.org/simple2",
    'rclone obscure "$RCLONE_PASS"',
    "rclone obscure -",
    "rclone config create ours sftp host h user me key_file /home/me/id2",
    "rclone copy pass remote2:backups",
    "run snyk auth to log in",
    "sonar.login=${SONAR_TOKEN}",
    "localhost:5432:ready",
    "main.py:5432:foo:bar: baz",
    "net use Z: \\\\srv\\share",
    "net use * /delete",
    "echo $PW | sudo -S ls",
    "Enter passphrase (empty for no passphrase): ",
    'connection_string = "Server=x"',
    "random_password.db.length = 16",
    "X_PW=$PW",
    "the password is base64-encoded",
    "Your token is v2.14.0-rc1",
    "the token is expired (401)",
    "The password is sha256-hashed and the secret is utf8mb4_bin",
    "Last password is 12characters",
    "API key: required",
    "Private key: /etc/ssl/private/site.key",
    "API key: $OPENAI_API_KEY",
    "cache key: linux-node-20-7f3a9c1b2d4e5f60",
    "Public key: AAAAC3NzaC1lZDI1NTE5AAAAI0123456789",
    "the key 1: of 3",
    "echo $PW | docker login -u ci --password-stdin",
    "cat token.txt | gh auth login --with-token",
    "echo build-2026.11 | grep 2026",
    'gh secret set NAME <<< "$TOKEN"',
    "passwd:x:0:0:root:/root:/bin/bash",
    "password=getUserPasswordFromStore",
    "const password = decodeUserPasswordFromHeader",
    "--- PASS: TestX (0.00s)\nPASS\nok  \tpkg\t0.01s",
]
