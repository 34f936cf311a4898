"""What a name says that something is for: a task of the project, an environment, a machine.

A task is the project's own and is not looked into. But one that is called `deploy` or `db:reset`
says plainly what it does, and so does an environment that is called `production`.
"""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import known
from siding.shellguard.hosts import is_local
from siding.shellguard.names import names

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner

_PRODUCTION = names("prod production prd")
# Beside one of these words a task only looks, or works on this machine alone.
_LOOKS = names("""
    check checks diff dry dryrun help lint list local log logs note notes plan simulate status test
    testing tests validate verify
""")
# Beside one of these words, `release` and `prod` are kinds of a build, or of a local server.
_BUILDS = names("""
    assemble assets build builds bundle changelog clean compile config dev docs install pack
    package precompile preview run serve snapshot start types version watch
""")
_PUBLISHES = names("deploy promote publish push rollout ship upload")
_DESTROYS = names("destroy nuke teardown undeploy")
_EMPTIES = names("down drop flush fresh purge reset revert rollback truncate undo wipe")
_OF_DATA = names("data database databases db migrate migration migrations schema tables")
# What a program does that shows, builds or tests, whatever environment it is told.
_SPARES = (
    _LOOKS
    | (_BUILDS - names("run start clean install"))
    | names("""
        current deps describe generate get history images info ls parse print ps pull render routes
        show synth template
    """)
)


def parts_of(name: str) -> list[str]:
    """Return the words in a name: `deployProd`, `deploy:prod` and `DEPLOY_PROD` have two."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name[:300])
    return [part.lower() for part in found]


# A target of such a name is a file that is made: `make out/release.tar.gz`.
_FILES = r"\.(?:a|css|deb|dll|exe|gz|h|html|json|md|o|pdf|rpm|so|tar|tgz|txt|whl|ya?ml|zip)$"


def rule_of_task(name: str) -> str:
    """Return the rule that a task matches by its name; "" if it says nothing."""
    if re.search(_FILES, name):
        return ""
    parts = parts_of(name)
    said = frozenset(parts)
    if not parts or said & _LOOKS:
        return ""
    on_data = bool(said & _OF_DATA)
    if said & _DESTROYS or (on_data and said & _EMPTIES and said != {"db", "down"}):
        return "destroy-data"
    if said & _PUBLISHES and not (said & _PUBLISHES == {"push"} and on_data):
        return "publish"
    if said & _BUILDS:
        return ""
    if "release" in said:
        return "publish"
    return "change-remote" if said & _PRODUCTION or parts[-1] == "apply" else ""


_SCRIPTS = r"(?i)(?:^|/)([^/]*(?:deploy|release|publish|destroy|teardown|prod|reset|drop)[^/]*)$"


def judge_script(examiner: "Examiner", path: str) -> None:
    """Judge a script by its name: ``./deploy.sh`` says as plainly what it does as a task."""
    found = re.search(_SCRIPTS, path)
    name = found.group(1) if found and known(path) else ""
    rule = rule_of_task(re.sub(r"\.\w+$", "", name))
    if rule:
        examiner.found(rule, path)


def works_on_data(name: str) -> bool:
    """Return whether a task works on a database by its name: `db:migrate`, `seed`."""
    said = frozenset(parts_of(name))
    return not said & _LOOKS and bool(said & _OF_DATA or "seed" in said)


def is_production(name: str) -> bool:
    """Return whether an environment, a file or a machine is called so: `app.settings.prod`."""
    return not _PRODUCTION.isdisjoint(parts_of(name))


def spares_production(arguments: tuple[str, ...], named: str) -> bool:
    """Return whether a program that is told an environment only shows, builds or tests."""
    words = [word for word in arguments if word[:1] != "-" and named not in word][:4]
    return any(not _SPARES.isdisjoint(parts_of(word)) for word in words)


# A machine of such a name is a service beside this one, as a compose file has it.
_SERVICES = (
    r"(?i)api|app|backend|broker|ca?che?|cassandra|cockroach|cluster|dat|db|dev|elastic|etcd|host"
    r"|influx|kafka|local|maria|minio|mongo|nats|node|pg|post|presto|primary|queue|rabbit|redis"
    r"|replica|scylla|search|serv|spark|sql|stor|svc|test|timescale|trino|valkey|web"
)


def is_other_machine(host: str) -> bool:
    """Return whether a name without a dot is that of a machine which others use too."""
    plain = known(host) and re.fullmatch(r"[A-Za-z][\w-]*", host) and not is_local(host)
    return bool(plain) and (is_production(host) or not re.search(_SERVICES, host))
