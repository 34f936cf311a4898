"""Clients of clouds, code hosts, containers and clusters: no snapshot can undo what they change."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone
from siding.policy.programs.plain import options, reads_all, runner

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_LOOKS = names(
    """
    get list ls ll describe show status version help logs log diff plan validate fmt format lint
    view info inspect search top explain output graph providers console-url whoami account
    current config-view events history images image-ls ps port stats cat-file head-object
    head-bucket preview template repo-list env outdated why doctor check api-resources
    api-versions cluster-info verify checks refresh-only state-list completion --version --help
    -h -v -V ping
    """
)
DESTROYS = re.compile(
    r"(?i)(?:^|[-:_.])(?:destroy|delete|del|remove|rm|rb|rmi|purge|drop|wipe|reset|terminate|uninstall"
    r"|prune|down|flush|erase|truncate|kill|unpublish|yank|revoke|disable|drain|clear|unlink)"
    r"(?:$|[-:_.])"
)
_PUBLISHES = names("publish push upload release deploy promote")


def cloud(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge the clients of clouds and services: verbs that only show are allowed, others ask."""
    words = [w for w in call.arguments if not w.startswith("-")]
    options(examiner, call)
    reads_all(examiner, call)
    if call.name in ("aws", "gcloud", "az", "oci", "aliyun", "ibmcloud"):
        looking = any(
            re.match(r"(?:get|list|describe|show|head|ls|help|wait|lookup|estimate|info)(?:-|$)", w)
            for w in words[:5]
        )
        secret = any(
            re.search(r"secret|password|token|credential|private-key|decrypt", w) for w in words
        )
        if secret and looking:
            examiner.found("print-secret", shown_words(call.words[:6]))
    else:
        looking = not words or bool(_LOOKS & {*words[:2], *call.arguments[:1]})
    if set(call.arguments) & {"--version", "--help", "-h"}:
        return ANYTHING
    if looking and not any(DESTROYS.search(word) for word in words[:3]):
        return ANYTHING
    destroys = any(DESTROYS.search(word) for word in words[:4])
    examiner.found("destroy-data" if destroys else "change-remote", shown_words(call.words[:6]))
    return ANYTHING


_GH_LOOKS = names("view list status diff checks search browse watch download")


_CHANGES_AN_ACCOUNT = names("""
    auth secret ssh-key gpg-key token config alias extension codespace gist
""")


def forge(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge gh, glab and the like."""
    words = [w for w in call.arguments if not w.startswith("-")]
    reads_all(examiner, call)
    if set(call.arguments) & {"--version", "--help"} or not words:
        return ANYTHING
    if words[0] in _CHANGES_AN_ACCOUNT and words[1:2] not in (["status"], ["list"]):
        examiner.found(
            "print-secret" if words[0] == "auth" else "change-remote", shown_words(call.words[:6])
        )
        return ANYTHING
    if words[0] == "api":
        given = arguments(call.arguments, ("-X", "--method", "-f", "-F", "-H", "--input", "-q"))
        writes = [m for m in given.values("-X", "--method") if m.upper() != "GET"]
        if writes or given.has("-f", "-F", "--field", "--raw-field", "--input"):
            examiner.found("change-remote", shown_words(call.words[:6]))
        return ANYTHING
    if words[0] in ("status", "search", "browse", "help", "version", "completion"):
        return ANYTHING
    if (words[1:2] or [""])[0] in _GH_LOOKS:
        return ANYTHING
    if words[1:2] == ["checkout"] or words[:2] == ["repo", "clone"]:
        return ANYTHING
    destroys = any(DESTROYS.search(word) for word in words[:3])
    examiner.found("destroy-data" if destroys else "change-remote", shown_words(call.words[:6]))
    return ANYTHING


# -- containers --------------------------------------------------------------------------------

_DOCKER_LOOKS = names(
    """
    ps images logs inspect version info top stats port diff history events search context ls
    list build buildx config compose-version start stop restart pause unpause wait create tag
    pull attach up watch df help
    """
)
_DOCKER_VALUES = ordered(
    """
    -v --volume --mount -w --workdir -e --env --env-file --name -p --publish --network --net -u
    --user --entrypoint -h --hostname --label -l --cpus -m --memory --restart --pid --ipc --uts
    --userns --security-opt --cap-add --cap-drop --device --add-host --platform --pull --tmpfs
    --gpus --shm-size --ulimit --log-driver -f --file --filter --format --build-arg -t --tag
    --target --network-alias --volumes-from --link --dns --cgroupns --runtime --cidfile -a
    --attach --progress --cache-from --cache-to --output -o --secret --ssh --project-name
    --profile --project-directory --context -c -H --host --config --log-level -n --tail --since
    -i_
    """
)


def container(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge docker, podman, nerdctl and compose."""
    words = list(call.arguments)
    glob = arguments(
        words,
        ("-H", "--host", "--context", "-c", "--config", "--log-level", "-l"),
        stop_at_operand=True,
    )
    if glob.has("-H", "--host", "--context"):
        examiner.found("change-remote", shown_words(call.words[:4]))
    verbs = list(glob.operands)
    if not verbs or glob.has("--version", "--help", "-v"):
        return ANYTHING
    verb = verbs.pop(0)
    if verb == "container" and verbs[:1] in (["run"], ["exec"], ["create"]):
        verb = verbs.pop(0)
    if call.name.endswith("-compose") or verb == "compose":
        _compose(examiner, call, verbs if verb == "compose" else [verb, *verbs])
    elif verb in ("run", "exec", "create"):
        _container_runs(examiner, call, verb, verbs)
    elif verb == "cp":
        for word in verbs:
            if ":" not in word:
                examiner.writes_into(word, call.state)
    else:
        rule = _container_rule(verb, verbs)
        if rule:
            examiner.found(rule, shown_words(call.words[:6]))
    if verb in ("build", "buildx"):
        runner(examiner, call)
    return ANYTHING


_DOCKER_OBJECTS = names("system volume image container network machine builder")
_DOCKER_CHANGES = names(
    "login logout save export commit plugin swarm stack service secret node load import update"
    " trust"
)


def _container_rule(verb: str, rest: list[str]) -> str:
    """Return the rule that a docker verb matches by itself; "" when it matches none."""
    if verb in ("rm", "rmi", "kill", "prune") or "prune" in rest:
        return "destroy-data"
    if verb in _DOCKER_OBJECTS and any(DESTROYS.search(word) for word in rest[:2]):
        return "destroy-data"
    if verb == "push":
        return "publish"
    unknown = verb not in _DOCKER_LOOKS and rest[:1] and rest[0] not in _DOCKER_LOOKS
    return "change-remote" if verb in _DOCKER_CHANGES or unknown else ""


def _compose(examiner: "Examiner", call: "Call", words: list[str]) -> None:
    given = arguments(
        words,
        ("-f", "--file", "-p", "--profile", "--env-file", "--project-directory"),
        stop_at_operand=True,
    )
    for path in given.values("-f", "--file", "--project-directory"):
        if not examiner.is_workspace(path, call.state):
            examiner.found("run-outside", path)
    verb, *rest = given.operands or ("",)
    if verb == "down" and not {"-v", "--volumes", "--rmi"} & set(rest):
        return
    if verb in ("rm", "kill", "down"):
        examiner.found("destroy-data", shown_words(call.words[:6]))
    elif verb in ("run", "exec"):
        _container_runs(examiner, call, verb, rest)
    elif verb in ("push", "publish"):
        examiner.found("publish", shown_words(call.words[:6]))


def _container_runs(examiner: "Examiner", call: "Call", verb: str, words: list[str]) -> None:
    given = arguments(words, _DOCKER_VALUES, stop_at_operand=True)
    mounts = _mounts(examiner, call, given.values("-v", "--volume", "--mount"))
    shares = given.values("--pid", "--ipc", "--network", "--net", "--userns", "--uts", "--cgroupns")
    if given.has("--privileged", "--cap-add", "--device", "--volumes-from", "--security-opt") or [
        s for s in shares if s.partition(":")[0] in ("host", "container")
    ]:
        examiner.found("leave-container", shown_words(call.words[:8]))
    for path in given.values("--env-file"):
        examiner.reads(path, call.state)
    inner = given.operands[1:]
    for entry in given.values("--entrypoint"):
        inner = (entry, *inner)
    if inner:
        state = call.state.copy()
        state.cwd = "/"
        dangerous = mounts or verb == "exec"
        line = inner
        if dangerous:
            examiner.inner(f"{call.name} {verb}", line, call._replace(state=state))


def _mounts(examiner: "Examiner", call: "Call", mounts: list[str]) -> bool:
    """Judge a container's mounts; return whether one lies outside the workspace."""
    leaves = False
    for mount in mounts:
        source = mount.partition(":")[0]
        found = re.search(r"(?:^|,)(?:source|src)=([^,]*)", mount)
        source = found.group(1) if found else source
        if not re.match(r"[./~]|\x00|\x01", source) and known(source):
            continue  # a named volume
        if examiner.is_workspace(source, call.state):
            continue
        if examiner.zone(source, call.state) is Zone.TEMPORARY:
            continue
        examiner.found("leave-container", mount)
        leaves = True
    return leaves


_CLUSTER_LOOKS = names(
    """get describe logs top explain version api-resources diff wait api-versions cluster-info
    config help events auth kustomize completion options plugin"""
) | {""}


def cluster(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge kubectl and oc."""
    given = arguments(
        call.arguments,
        ordered("""
            -n --namespace --context --cluster -f -o -l -c --kubeconfig --selector --as
        """),
        stop_at_operand=False,
    )
    verb = given.operands[0] if given.operands else ""
    if "--" in call.arguments:
        at = call.arguments.index("--")
        verb = next((w for w in call.arguments[:at] if not w.startswith("-")), "")
        examiner.inner(f"{call.name} {verb}", call.arguments[at + 1 :], call)
    if verb in _CLUSTER_LOOKS:
        objects = {word.partition("/")[0] for word in given.operands[1:]}
        formats = given.values("-o")
        if verb == "get" and objects & {"secret", "secrets"} and formats not in ([], ["name"]):
            examiner.found("print-secret", shown_words(call.words[:6]))
        contexts = ("view", "current-context", "get-contexts")
        if verb == "config" and not set(given.operands[1:2]) & set(contexts):
            examiner.found("change-remote", shown_words(call.words[:6]))
        return ANYTHING
    examiner.found(
        "destroy-data" if DESTROYS.search(verb) else "change-remote", shown_words(call.words[:6])
    )
    return ANYTHING


JUDGES = {
    **dict.fromkeys(
        names(
            """
            aws gcloud az oci aliyun ibmcloud doctl linode-cli hcloud heroku fly flyctl
            vercel netlify wrangler railway render supabase firebase eb cdk sam serverless
            sls amplify cf eksctl gcloud.cmd pulumi terraform tofu terragrunt packer
            vagrant nomad consul helm helmfile argocd flux istioctl kustomize skaffold
            tilt minikube kind k3d multipass lxc incus virsh qemu-img stripe twilio
            sentry-cli datadog-ci planetscale pscale turso neonctl surge now dokku kamal
            cap mina scw exo ovhcloud databricks bq snowsql dbt kaggle huggingface-cli hf
            circleci travis buildkite-agent act jira linear slack wp drush magento shopify
            sf sfdx expo eas fastlane temporal kafka-topics rabbitmqctl etcdctl
            restic borg duplicity crictl ctr skopeo crane cosign oras
            """
        ),
        cloud,
    ),
    **dict.fromkeys(("gh", "glab", "hub", "tea", "bb"), forge),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "finch"),
        container,
    ),
    **dict.fromkeys(("kubectl", "oc", "k", "kubecolor", "k9s"), cluster),
    **dict.fromkeys(("ansible", "ansible-playbook"), cloud),
}
