"""Every attempt to get out of a sandbox: what it tries, and what comes of it with each engine.

The programs are in `inside/`, a module for each family; a test asserts that each has a row here.
"""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Expected(StrEnum):
    """What comes of an attempt in a run without a network."""

    HELD = "held"  # it fails
    VANISHES = "vanishes"  # it works, on something of the run's own: outside nothing has changed
    OPEN = "open"  # it works, and the step's record or docs/reference/sandbox.md says so


HELD, VANISHES, OPEN = Expected


class Attempt(NamedTuple):
    """One attempt.

    `said` are words with which an OPEN one is named: in the step's record, or in
    docs/reference/sandbox.md.
    A `harmless` one is also tried without a sandbox, where it must get through: it proves that what
    cannot be reached is there. "root" or "user" says for whom it does.
    """

    name: str
    tries: str
    bwrap: Expected = HELD
    landlock: Expected = HELD
    said: str = ""
    harmless: str = ""
    not_as_root: bool = False  # OPEN for an ordinary user alone
    since: int = 0  # the version of Landlock that stops it; before, the step's record names it

    def expected(self, engine: str, *, as_root: bool) -> Expected:
        """Return what comes of it with an engine."""
        found: Expected = getattr(self, engine)
        return HELD if found is OPEN and as_root and self.not_as_root else found


BOTH, ROOT = "root user", "root"
SHARED = "shared memory"
META = "modes, owners, times and attributes"
NAMES = "names, sizes and times of files"
SOCKETS = "sockets in the file system"
PRIORITY = "priorities of your other processes"
GUARDED = ".git file"

FAMILIES: dict[str, tuple[Attempt, ...]] = {
    "files": (
        Attempt("inherited_descriptors", "descriptors that Siding was started with"),
        Attempt("write_outside", "a file by its name", harmless=BOTH),
        Attempt("write_etc", "a file of the system", harmless=""),
        Attempt("write_what_others_start", "cron, profiles, programs"),
        Attempt("write_through_a_link", "a link that leads out", harmless=BOTH),
        Attempt("write_through_dots", "a path with ..", harmless=BOTH),
        Attempt("write_above_the_workspace", "the directory of workspaces"),
        Attempt("write_while_a_link_is_swapped", "a directory that becomes a link"),
        Attempt("link_a_file_in", "a hard link to a file outside", harmless=BOTH),
        Attempt("link_a_descriptor_in", "a hard link to an open file"),
        Attempt("open_a_descriptor_again", "an open file, again for writing", harmless=BOTH),
        Attempt("move_a_file_in", "rename across the border, inwards"),
        Attempt("move_a_file_out", "rename across the border, outwards"),
        Attempt("exchange_a_file", "rename with exchange"),
        Attempt("move_the_workspace_away", "another directory in its place"),
        Attempt("cut_a_file", "truncate without opening", since=3),
        Attempt("remove_a_file", "unlink outside"),
        Attempt("make_a_directory_outside", "mkdir outside"),
        Attempt("make_a_link_outside", "symlink outside"),
        Attempt("make_a_pipe_outside", "mkfifo outside"),
        Attempt("bind_a_socket_outside", "a socket in a directory outside"),
        Attempt("change_a_mode", "chmod", landlock=OPEN, said=META, harmless=BOTH),
        Attempt("change_a_time", "utime", landlock=OPEN, said=META, harmless=BOTH),
        Attempt("change_an_owner", "chown", landlock=OPEN, said=META, harmless=BOTH),
        Attempt(
            "change_an_attribute",
            "setxattr",
            landlock=OPEN,
            said=META,
            harmless=BOTH,
            not_as_root=True,
        ),
        Attempt("lock_a_file", "flock of what it reads", OPEN, OPEN, "lock a file", BOTH),
        Attempt("read_the_key", "a private key in the home", harmless=BOTH),
        Attempt("see_that_a_key_is_there", "stat", HELD, OPEN, NAMES, BOTH),
        Attempt("watch_the_keys", "inotify", HELD, OPEN, NAMES, BOTH),
        Attempt("list_the_keys", "the directory of keys", harmless=BOTH),
        Attempt("write_a_start_up_file", ".bashrc and its kind", VANISHES),
        Attempt("change_settings_of_git", "~/.gitconfig", VANISHES),
        Attempt("make_settings_of_an_agent", "hooks of agents in the home", VANISHES),
        Attempt("read_the_checkout", "an untracked file of the main checkout", harmless=BOTH),
        Attempt("write_the_checkout", "the main checkout"),
        Attempt("write_the_git_file", "the workspace's .git", HELD, OPEN, GUARDED, BOTH),
        Attempt("replace_the_git_file", "the workspace's .git, by rename", HELD, OPEN, GUARDED),
        Attempt("through_proc_root", "the root of a process outside"),
        Attempt("through_its_own_proc_root", "its own root by /proc"),
        Attempt("through_the_root_of_the_first_process", "/proc/1/root", VANISHES),
        Attempt("through_proc_cwd", "the directory of a process outside", harmless=BOTH),
        Attempt("through_a_thread", "/proc/PID/task"),
        Attempt("through_map_files", "/proc/PID/map_files"),
        Attempt("through_descriptors_of_others", "/proc/*/fd", harmless=BOTH),
        Attempt("open_by_handle", "a handle of /etc"),
        Attempt("search_by_handles", "made-up handles of first inodes"),
    ),
    "processes": (
        Attempt("read_an_environment", "/proc/*/environ", harmless=BOTH),
        Attempt("read_arguments", "command lines", HELD, OPEN, "other processes", BOTH),
        Attempt("read_memory", "/proc/PID/mem"),
        Attempt("write_memory_above", "memory of the process above"),
        Attempt("read_memory_by_a_call", "process_vm_readv", harmless=ROOT),
        Attempt("write_memory_by_a_call", "process_vm_writev"),
        Attempt("trace_a_process", "ptrace, attach"),
        Attempt("seize_a_process", "ptrace, seize"),
        Attempt("take_a_descriptor", "pidfd_getfd", harmless=ROOT),
        Attempt("enter_its_namespaces", "setns", harmless=ROOT),
        Attempt("enter_by_a_process_descriptor", "setns by a pidfd", harmless=ROOT),
        Attempt("signal_a_process", "kill", since=6),
        Attempt("signal_by_a_descriptor", "pidfd_send_signal", since=6),
        Attempt("signal_a_thread", "tgkill", since=6),
        Attempt("signal_a_group", "killpg", since=6),
        Attempt("signal_by_a_queue", "rt_sigqueueinfo", since=6),
        Attempt("signal_by_a_pipe", "SIGIO to an owner outside", since=6),
        Attempt("find_those_above", "the process above", harmless="", since=6),
        Attempt("change_limits", "prlimit of a process outside", harmless=BOTH),
        Attempt("change_a_priority", "setpriority", HELD, OPEN, PRIORITY, BOTH, not_as_root=True),
        Attempt(
            "change_a_processor", "sched_setaffinity", HELD, OPEN, PRIORITY, BOTH, not_as_root=True
        ),
        Attempt("change_who_is_killed_first", "oom_score_adj", harmless=BOTH),
    ),
    "kernel": (
        Attempt("type_into_a_terminal", "TIOCSTI"),
        Attempt("type_with_more_bits", "TIOCSTI with bits that the kernel ignores"),
        Attempt("paste_into_a_terminal", "TIOCLINUX"),
        Attempt("take_the_console", "/dev/console"),
        Attempt("control_a_console", "TIOCCONS"),
        Attempt("mount_something", "mount"),
        Attempt("mount_by_the_new_calls", "fsopen"),
        Attempt("clone_the_tree", "open_tree"),
        Attempt("make_root_writable", "remount"),
        Attempt("uncover_the_home", "umount in namespaces of its own"),
        Attempt("bind_what_is_below", "a bind of what mounts hide"),
        Attempt("clone_what_is_below", "open_tree of what mounts hide"),
        Attempt("lay_a_file_system_over", "an overlay over what mounts hide"),
        Attempt("make_a_copy_writable", "a remount of a copy"),
        Attempt("make_writable_by_an_attribute", "mount_setattr"),
        Attempt("turn_the_root_round", "pivot_root"),
        Attempt("climb_out_of_a_root", "chroot and .."),
        Attempt("change_root", "chroot"),
        Attempt("mount_control_groups", "a tree of control groups", harmless=ROOT),
        Attempt("write_control_groups", "/sys/fs/cgroup", harmless=ROOT),
        Attempt("set_a_file_setuid", "chmod", harmless=BOTH),
        Attempt("make_a_file_setuid", "open", harmless=BOTH),
        Attempt("make_a_node_setuid", "mknod", harmless=BOTH),
        Attempt("make_a_nameless_file_setuid", "O_TMPFILE", harmless=BOTH),
        Attempt("make_a_file_setuid_by_a_struct", "openat2", harmless=BOTH),
        Attempt("set_a_file_setuid_by_the_newest_call", "fchmodat2", harmless=BOTH),
        Attempt("give_a_file_capabilities", "security.capability, by a root of its own"),
        Attempt("become_root", "setuid"),
        Attempt("become_root_by_a_program", "su, sudo"),
        Attempt("join_a_group", "setgroups"),
        Attempt("gain_rights", "capabilities, no_new_privs"),
        Attempt("make_a_device", "mknod of a disk"),
        Attempt("read_a_disk", "the disk below what is hidden", harmless=ROOT),
        Attempt("read_memory_of_the_machine", "/dev/mem, /proc/kcore"),
        Attempt("open_a_device", "fuse, kvm, cameras, keyboards", harmless=ROOT),
        Attempt("use_the_keyring", "keyctl"),
        Attempt("add_a_key", "add_key"),
        Attempt("request_a_key", "request_key"),
        Attempt("by_numbers_of_another_kind", "system calls of x32"),
        Attempt("use_io_uring", "io_uring, which a filter does not see"),
        Attempt("load_a_program_into_the_kernel", "bpf"),
        Attempt("count_events_of_others", "perf"),
        Attempt("load_a_module", "init_module"),
        Attempt("change_the_kernel", "core_pattern"),
        Attempt("change_a_setting_of_the_network", "/proc/sys"),
        Attempt("press_sysrq", "sysrq"),
        Attempt("change_sys", "/sys"),
        Attempt("open_what_debugs_the_kernel", "debugfs, tracefs, bpffs"),
        Attempt("change_the_hostname", "sethostname"),
        Attempt("reach_ports_of_the_machine", "iopl"),
        Attempt("keep_an_account", "acct"),
    ),
    "sockets": (
        Attempt("reach_an_abstract_socket", "an abstract socket", harmless=BOTH, since=6),
        Attempt("reach_a_socket_by_name", "outside homes", HELD, OPEN, SOCKETS, BOTH),
        Attempt("reach_a_hidden_socket", "in /tmp", HELD, OPEN, SOCKETS, BOTH),
        Attempt("reach_the_agent_of_ssh", "SSH_AUTH_SOCK", HELD, OPEN, SOCKETS, BOTH),
        Attempt("reach_a_socket_of_the_home", "in the home", HELD, OPEN, SOCKETS, BOTH),
        Attempt("reach_a_service_of_the_machine", "docker, dbus, X11", HELD, OPEN, SOCKETS),
        Attempt("send_to_a_socket_by_name", "datagrams", HELD, OPEN, SOCKETS, BOTH),
        Attempt("reach_a_server", "TCP", harmless=BOTH),
        Attempt("reach_a_server_by_the_newer_protocol", "TCP by IPv6"),
        Attempt("reach_a_server_while_sending", "TCP fast open", harmless=BOTH),
        Attempt("reach_a_server_by_many_ways", "MPTCP"),
        Attempt("reach_a_udp_server", "UDP", harmless=BOTH),
        Attempt("look_up_a_name", "names"),
        Attempt("a_server_of_its_own", "a server", harmless=BOTH),
        Attempt("reach_the_hypervisor", "vsock"),
        Attempt("raw_packets", "packets", harmless=ROOT),
        Attempt("raw_messages", "ICMP", harmless=ROOT),
        Attempt("any_other_family", "every other family of sockets"),
    ),
    "shared": (
        Attempt("reach_shared_memory", "System V, memory", HELD, OPEN, SHARED, BOTH),
        Attempt("reach_semaphores", "System V, semaphores", HELD, OPEN, SHARED, BOTH),
        Attempt("reach_a_queue", "System V, a queue", HELD, OPEN, SHARED, BOTH),
        Attempt("reach_a_named_queue", "a queue of POSIX", harmless=BOTH),
        Attempt("reach_memory_by_name", "/dev/shm", HELD, OPEN, SHARED, BOTH),
        Attempt("reach_another_terminal", "/dev/pts", HELD, OPEN, "other terminals", BOTH),
    ),
    "repository": (
        Attempt("write_a_hook", "hooks", harmless=""),
        Attempt("write_git_config", "settings"),
        Attempt("write_rules_of_files", "info"),
        Attempt("write_lies_about_history", "grafts, shallow"),
        Attempt("write_the_list_of_refs", "packed-refs"),
        Attempt("write_the_head_of_the_checkout", "HEAD, index"),
        Attempt("leave_a_rebase_in_the_checkout", "what a rebase has to do"),
        Attempt("write_a_tag", "refs/tags"),
        Attempt("write_a_remote_branch", "refs/remotes"),
        Attempt("write_the_stash", "refs/stash"),
        Attempt("replace_a_commit", "refs/replace"),
        Attempt("write_another_branch", "refs/heads/main", VANISHES),
        Attempt("write_a_new_branch", "refs/heads", VANISHES),
        Attempt("remove_a_branch", "refs/heads/main, removed", VANISHES),
        Attempt("write_the_reflog", "logs"),
        Attempt("write_the_reflog_of_a_branch", "logs/refs/heads", VANISHES),
        Attempt("borrow_objects", "alternates", VANISHES),
        Attempt("add_a_pack_of_nonsense", "a pack", VANISHES),
        Attempt("remove_an_object", "an object", HELD),
        Attempt("add_a_submodule", "modules"),
        Attempt("register_a_worktree", "worktrees/new"),
        Attempt("change_another_worktree", "another task's HEAD"),
        Attempt("change_the_id_of_the_project", "siding/id"),
        Attempt("plant_in_its_git_directory", "its own git directory", VANISHES),
        Attempt("tell_git_to_move_a_branch", "update-ref, branch, push", VANISHES),
        Attempt("tell_git_to_change_the_repository", "config, remote, tag, gc", VANISHES),
        Attempt("tell_git_to_add_a_worktree", "worktree add"),
    ),
    "records": (
        Attempt("read_our_state", "settings of the project", harmless=BOTH),
        Attempt("write_our_state", "the home"),
        Attempt("write_settings_of_all_projects", "config.yaml of the home"),
        Attempt("write_who_is_trusted", "trust.json"),
        Attempt("write_the_policy", "the policy"),
        Attempt("answer_about_agents", "guard.json"),
        Attempt("write_a_ledger", "ledgers"),
        Attempt("write_the_anchor", "anchors"),
        Attempt("write_snapshots", "the store of snapshots"),
        Attempt("read_another_workspace", "another task's workspace", harmless=BOTH),
        Attempt("write_another_workspace", "another task's workspace"),
        Attempt("write_the_program_itself", "Siding's source"),
        Attempt("replace_the_broker", "the socket of the broker"),
        Attempt("say_that_a_person_has_seen_it", "siding trust"),
        Attempt("apply_it_oneself", "siding apply"),
        Attempt("run_without_a_sandbox", "siding run --no-sandbox"),
    ),
}

ROWS = {row.name: row for rows in FAMILIES.values() for row in rows}
# What goes on after the end: with bwrap nothing, with Landlock as without a sandbox
# (docs/reference/runs.md).
LEFT = ("child", "daemon", "daemons", "ignoring", "apart")
