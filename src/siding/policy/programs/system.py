"""The machine itself: disks, services, users, processes, schedules."""

import re
from typing import TYPE_CHECKING

from siding.policy.effects import secret_variable
from siding.policy.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    MARKS,
    NUMBER,
    UNKNOWN,
    PrintedText,
    shown_words,
)
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_ASKING = {"--version", "--help", "-V", "-h", "-?", "help", "version"}

# Program -> (rule, words that make it harmless). One of the words is enough.
_TABLE: dict[str, tuple[str, frozenset[str]]] = {}


def _add(rule: str, programs: str, harmless: str = "") -> None:
    for name in programs.split():
        _TABLE[name] = (rule, frozenset(harmless.split()))


_add(
    "format-disk",
    """mke2fs mkswap mkdosfs newfs wipefs blkdiscard sgdisk gdisk cgdisk cfdisk badblocks
     hdparm nvme sg_format cryptsetup lvremove vgremove pvremove pvcreate vgcreate lvcreate
     mdadm zpool zfs btrfs dmsetup losetup fsfreeze tune2fs resize2fs e2fsck xfs_repair
     debugfs format diskutil diskpart hdiutil asr growpart partprobe flashrom efibootmgr
     grub-install update-grub bootctl""",
    "list status -l --list info show",
)
_add("format-disk", "fdisk sfdisk parted", "-l --list print -x")
_add("stop-system", "shutdown reboot halt poweroff telinit init rtcwake pm-suspend systemsetup", "")
_add(
    "change-system",
    """
    useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup
    gpasswd passwd chpasswd chage chsh chfn vipw vigr visudo newusers pwconv grpconv
    swapoff swapon mount umount pivot_root iptables ip6tables nft ufw firewall-cmd ipset
    ebtables insmod rmmod modprobe depmod kexec setenforce semanage aa-disable
    apparmor_parser update-rc.d chkconfig ldconfig hwclock ntpdate hostnamectl loginctl
    localectl update-alternatives dpkg-reconfigure debconf-set-selections visudo
    pam-auth-update authconfig realm dscl spctl csrutil nvram tccutil profiles pmset
    networksetup kextload kextunload tmutil bcdedit reg sc net netsh icacls takeown wmic
    schtasks attrib cipher vssadmin rundll32 regsvr32 mshta powercfg msiexec auditctl
    setquota quotaoff accton iw iwconfig ifdown ifup brctl
    """,
    "list show status",
)
_add("schedule", "launchctl anacron incrontab fcron cron crond logrotate", "list print")
_add(
    "print-secret",
    "pass gopass security secret-tool keyctl vault op bw lpass keepassxc-cli "
    "sops age gpg gpg2 chamber aws-vault doppler infisical kwallet-query",
    "--version --verify --list-keys -k --fingerprint status",
)
_add("become-root", "sudoedit  vmtoolsd polkit-agent login newgrp", "")
_add(
    "unknown-program",
    "del erase rd deltree copy xcopy robocopy move start call defaults open "
    "plutil xattr pbcopy pbpaste say  explorer.exe notepad.exe wine64",
    "",
)
_add("run-outside", "xdg-open gio gnome-open kde-open exo-open desktop-file-install", "")
_add("kill-all", "killall5 slay skill snice", "")
_add(
    "install-elsewhere",
    """apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk emerge snap
     flatpak brew port pkg choco winget scoop nix-env guix easy_install alien gdebi""",
    "list search show info policy depends rdepends --installed -Q -Ss -Si -l -s -S outdated "
    "doctor config deps leaves -qa",
)


def table(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a program by the rule in `_TABLE`, unless its arguments are known to be harmless."""
    rule, harmless = _TABLE[call.name]
    words = set(call.arguments)
    if call.name == "mount" and not words:
        return ANYTHING
    if len(words) == 1 and words & (_ASKING if rule != "stop-system" else {"--help", "--version"}):
        return ANYTHING
    if harmless & words and (call.arguments[0] in harmless or rule == "format-disk"):
        return ANYTHING
    if call.name in ("ufw", "zpool", "zfs", "btrfs", "net") and not words:
        return ANYTHING
    if call.name == "defaults" and call.arguments[:1] == ("read",):
        return ANYTHING
    examiner.found(rule, shown_words(call.words[:8]))
    return ANYTHING


def make_filesystem(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge mkfs: it may format an image file in the workspace, but no device."""
    given = arguments(call.arguments, ("-t", "-L", "-b", "-i", "-N", "-U", "-m", "-E", "-O", "-T"))
    if set(call.arguments) & _ASKING:
        return ANYTHING
    inside = [
        examiner.zone(each, call.state) in (Zone.INSIDE, Zone.TEMPORARY)
        for each in given.operands
        if not re.fullmatch(r"\d+[kKmMgG]?", each)
    ]
    if not inside or not all(inside):
        examiner.found("format-disk", shown_words(call.words))
    return ANYTHING


def service(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge systemctl, service, initctl."""
    looks = names("""
        status show cat list-units list-unit-files is-active is-enabled is-failed list-timers
        list-sockets list-dependencies help --version --help --status-all get-default
        show-environment list-jobs
    """)
    verbs = [word for word in call.arguments if not word.startswith("-")]
    if not looks & set(call.arguments) and call.arguments and (verbs or "-" not in call.words[1]):
        user = "--user" in call.arguments
        stops = set(verbs) & {"reboot", "poweroff", "halt", "suspend", "stop", "kill", "isolate"}
        rule = "stop-system" if stops else "schedule" if user else "change-system"
        examiner.found(rule, shown_words(call.words[:6]))
    return ANYTHING


def kill(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge kill: ending one process by its number is allowed."""
    words = list(call.arguments)
    if words and re.fullmatch(r"-(?:\d+|[A-Z]+[A-Z0-9]*)", words[0]) and len(words) > 1:
        words.pop(0)
    given = arguments(words, ("-s", "-n", "--signal", "-q"))
    if given.has("-l", "-L", "--list", "--table"):
        return ANYTHING
    for word in words:
        if re.fullmatch(r"-1|-\d{1,2}|0|1", word):
            examiner.found("kill-all", word)
        if FOUND_BY_NAME in word:  # what pkill would do
            examiner.found("siding-itself", shown_words(call.words))
    names = [part for word in call.words for part in re.findall(r"PPID", word)]
    if names or "$PPID" in call.words:
        examiner.found("siding-itself", shown_words(call.words))
    return ANYTHING


def kill_by_name(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge pkill and killall."""
    given = arguments(call.arguments, ("-u", "-U", "-g", "-G", "-P", "-s", "-t", "-o", "-y", "-n"))
    if given.has("-l", "--list", "-V", "--version", "--help"):
        return ANYTHING
    everybody = given.has("-u", "-U", "--user", "--uid", "--euid") or not given.operands
    wide = any(set(word) <= set(".*") or set(word) & set(MARKS) for word in given.operands)
    if everybody or wide or "-1" in call.arguments:
        examiner.found("kill-all", shown_words(call.words))
    else:
        examiner.found("siding-itself", shown_words(call.words))
    return ANYTHING


def crontab(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge crontab."""
    given = arguments(call.arguments, ("-u",))
    if given.has("-r"):
        examiner.found("change-system", shown_words(call.words))
    elif not given.has("-l") or given.has("-e"):
        examiner.found("schedule", shown_words(call.words))
    return ANYTHING


def sysctl(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge sysctl."""
    if any(w in ("-w", "-p", "--write", "--load", "--system") or "=" in w for w in call.arguments):
        examiner.found("change-system", shown_words(call.words))
    return ANYTHING


def network_setup(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge ip, route, ifconfig, tc."""
    words = [w for w in call.arguments if not w.startswith("-")]
    if call.name == "ip" and words[:1] == ["netns"] and words[1:2] == ["exec"]:
        examiner.found("become-root", shown_words(call.words))
        examiner.inner("ip netns exec", tuple(words[3:]), call)
    elif len(words) > 1 and set(words) & names("""
        add del delete set flush up down replace change
    """):
        examiner.found("change-system", shown_words(call.words))
    return ANYTHING


def environment(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge printenv: showing a variable that holds a credential asks."""
    for word in call.arguments:
        if secret_variable(word) or UNKNOWN in word:
            examiner.found("print-secret", word)
    return PrintedText(secret=True)


def hostname(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge hostname and domainname: with an operand they change it."""
    if arguments(call.arguments, ("-F",)).operands or "-F" in call.arguments:
        examiner.found("change-system", shown_words(call.words))
    return PrintedText(text=NUMBER + "\n")


def system_log(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge journalctl and dmesg: they show logs, and a few of their options delete them."""
    if any(
        re.match(r"--(?:vacuum|rotate|flush)|-[cC]$|--clear|--console", w) for w in call.arguments
    ):
        examiner.found("change-system", shown_words(call.words))
    return ANYTHING


JUDGES = {
    **dict.fromkeys(_TABLE, table),
    **dict.fromkeys(
        (
            "mkfs",
            *(
                f"mkfs.{kind}"
                for kind in ordered("""
                    ext2 ext3 ext4 xfs btrfs vfat fat ntfs f2fs exfat minix bfs cramfs msdos jfs
                    reiserfs
                """)
            ),
        ),
        make_filesystem,
    ),
    **dict.fromkeys(
        names("systemctl service initctl rc-service sv rcctl invoke-rc.d supervisorctl s6-svc"),
        service,
    ),
    **dict.fromkeys(names("pkill killall xkill taskkill wkill killall.exe"), kill_by_name),
    **dict.fromkeys(("ip", "route", "ifconfig", "tc", "ethtool", "nmcli"), network_setup),
    **dict.fromkeys(("hostname", "domainname"), hostname),
    **dict.fromkeys(("journalctl", "dmesg"), system_log),
    "kill": kill,
    "crontab": crontab,
    "sysctl": sysctl,
    "printenv": environment,
}
