"""Which module judges which program, so that a run imports only the modules it needs.

Importing all judges takes 10 ms. A test compares this table with the JUDGES of each module.
"""

from collections.abc import Mapping

from siding.policy.names import names

_NAMES = {
    "system": """
    mke2fs mkswap mkdosfs newfs wipefs blkdiscard sgdisk gdisk cgdisk cfdisk badblocks
    hdparm nvme sg_format cryptsetup lvremove vgremove pvremove pvcreate vgcreate lvcreate
    mdadm zpool zfs btrfs dmsetup losetup fsfreeze tune2fs resize2fs e2fsck xfs_repair
    debugfs format diskutil diskpart hdiutil asr growpart partprobe flashrom efibootmgr
    grub-install update-grub bootctl fdisk sfdisk parted shutdown reboot halt poweroff
    telinit init rtcwake pm-suspend systemsetup useradd userdel usermod groupadd groupdel
    groupmod adduser deluser addgroup delgroup gpasswd passwd chpasswd chage chsh chfn vipw
    vigr visudo newusers pwconv grpconv swapoff swapon mount umount pivot_root iptables
    ip6tables nft ufw firewall-cmd ipset ebtables insmod rmmod modprobe depmod kexec
    setenforce semanage aa-disable apparmor_parser update-rc.d chkconfig ldconfig hwclock
    ntpdate hostnamectl loginctl localectl update-alternatives dpkg-reconfigure
    debconf-set-selections pam-auth-update authconfig realm dscl spctl csrutil nvram tccutil
    profiles pmset networksetup kextload kextunload tmutil bcdedit reg sc net netsh icacls
    takeown wmic schtasks attrib cipher vssadmin rundll32 regsvr32 mshta powercfg msiexec
    auditctl setquota quotaoff accton iw iwconfig ifdown ifup brctl launchctl anacron
    incrontab fcron cron crond logrotate pass gopass security secret-tool keyctl vault op bw
    lpass keepassxc-cli sops age gpg gpg2 chamber aws-vault doppler infisical kwallet-query
    sudoedit vmtoolsd polkit-agent login del erase rd deltree copy xcopy robocopy move start
    call defaults open plutil xattr pbcopy pbpaste say explorer.exe notepad.exe wine64
    xdg-open gio gnome-open kde-open exo-open desktop-file-install killall5 slay skill snice
    apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk emerge snap flatpak brew port
    pkg choco winget scoop nix-env guix easy_install alien gdebi mkfs mkfs.ext2 mkfs.ext3
    mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mkfs.exfat
    mkfs.minix mkfs.bfs mkfs.cramfs mkfs.msdos mkfs.jfs mkfs.reiserfs s6-svc systemctl
    supervisorctl rcctl initctl service sv invoke-rc.d rc-service taskkill killall.exe xkill
    pkill killall wkill ip route ifconfig tc ethtool nmcli hostname domainname journalctl
    dmesg kill crontab sysctl printenv
    """,
    "remote": """
    hf consul incus jira temporal stripe crictl helm sf dokku restic linode-cli kaggle mina
    tilt now tofu travis ctr wrangler magento pscale neonctl az terragrunt crane gcloud.cmd
    packer datadog-ci kustomize fastlane huggingface-cli expo linear k3d act sam minikube cf
    sfdx sls planetscale rabbitmqctl flyctl pulumi vercel twilio flux circleci slack doctl
    borg netlify eas shopify hcloud ibmcloud render sentry-cli firebase multipass bq
    duplicity oras eksctl heroku skopeo virsh nomad cdk buildkite-agent aws snowsql istioctl
    kind ovhcloud exo helmfile cosign railway vagrant supabase scw terraform skaffold dbt
    drush turso eb databricks oci cap qemu-img etcdctl kafka-topics aliyun lxc surge kamal
    fly argocd amplify wp serverless gcloud gh glab hub tea bb docker podman nerdctl
    docker-compose podman-compose buildah finch kubectl oc k kubecolor k9s ansible
    ansible-playbook
    """,
    "databases": """
    sqlcmd presto mycli duckdb trino hive influx mysql psql impala-shell cockroach
    clickhouse-client cqlsh isql mariadb sqlite3 usql sqlite pgcli litecli redis-cli
    pg_resetwal pg_dump mysqldump dropuser createdb valkey-cli mongosh dropdb mongo
    mongorestore initdb pg_restore pg_dumpall reindexdb vacuumdb memcached-tool mysqladmin
    createuser pg_ctl mongoimport mysqlimport mongodump
    """,
    "packages": """
    npm cpan gem vsce flit yarn nuget composer mamba twine shards pip3 nimble cpanm bower
    dotnet conda opam pub luarocks ovsx rye pdm poetry pip uv pnpm mix pipenv hatch cabal
    jsr bundle npx bunx pnpx uvx pipx alembic prisma dbmate drizzle-kit sqitch flyway
    sequelize rails knex flask liquibase typeorm manage.py rake django-admin artisan make
    gmake kotlinc g++ clang++ clang cc c++ javac java gcc ld pytest py.test go cargo cmake siding
    """,
    "network": """
    curl curlie wget wget2 aria2c axel plink ssh autossh rsh rlogin sshpass mosh dbclient
    ssh-keygen ssh-add ssh-copy-id ssh-keyscan nc ncat netcat socat telnet wscat http
    wormhole s3cmd lftp grpcurl ffsend links transfer croc ipfs certutil mail ftp msmtp
    ncftp swaks tftp uucp https rclone httpie sendmail bitsadmin mc mailx w3m smbclient
    gsutil azcopy elinks websocat xh rcp scrot nsupdate sftp mutt lynx bore localtunnel sshd
    lt cloudflared ttyd serveo frpc upterm zerotier-cli chisel xinetd inetd gotty miniserve
    vncserver tmate webfsd darkhttpd openvpn wg vsftpd tailscale smbd x11vnc wg-quick ngrok
    fping nslookup traceroute resolvectl drill getent whois host ping6 ping dig tracepath
    mtr ngrep masscan hping3 arpspoof ettercap tcpdump wireshark nmap tshark openssl
    """,
    "archives": """
    tar bsdtar gtar unzip 7z 7za 7zz unrar unar bsdunzip bzip2 gunzip bunzip2 unlz4 zstd
    unzstd lz4 pigz lzma unxz brotli xz gzip cpio pax zip
    """,
    "files": """
    srm unlink trash gio-trash shred rm rmdir del-cli rimraf trash-put wipe cp install
    ginstall mkdir touch truncate mkfifo mktemp fallocate chmod chown chgrp chattr
    setfacl setfattr setcap chcon tee sponge split csplit sort uniq xxd rsync scp
    dos2unix unix2dos rename recode mv ln dd patch date
    """,
    "search": """
    fd fdfind find
    """,
    "code": """
    python python2 python3 pypy pypy3 py ipython python3.6 python3.7 python3.8 python3.9
    python3.10 python3.11 python3.12 python3.13 python3.14 python3.15 python3.16 python3.17
    python3.18 python3.19 lua5.1 php nodejs deno perl lua5.4 php8.2 node php8.3 ruby lua
    lua5.3 bun php8.1 luajit Rscript
    """,
    "editing": """
    awk gawk mawk nawk goawk sed gsed ssed kak helix joe vimdiff emacs ed vi micro gvim pico
    hx emacsclient red view vim rvim ex nvim nano less more most man info pg pwsh.exe racket
    octave-cli pry gap openocd pwsh tclsh irb guile cmd.exe qjs d8 erl xdotool wish sage
    sbcl ydotool osascript jrunscript runghc clisp xonsh powershell cmd sqlplus elvish csi
    m4 gdb nu powershell.exe nix-shell hs maxima runhaskell jjs swipl gnuplot janet
    dotnet-script radare2 scala nix gst expect groovysh jshell ghci lldb r2 bc dc
    """,
    "git": """
    git
    """,
    "shells": """
    ash bash fish rbash tcsh dash ksh csh yash sh zsh mksh . source eval trap
    """,
    "builtins": """
    cd pushd popd chdir echo printf print read mapfile readarray export declare typeset
    local readonly unset let set shopt enable bind complete compgen hash compopt alias
    unalias
    """,
    "wrappers": """
    newgrp env nice ionice chrt nohup setsid timeout gtimeout time stdbuf unbuffer
    chronic ifne errno command builtin exec noglob nocorrect busybox toybox taskset
    numactl prlimit cpulimit setarch linux32 linux64 i386 x86_64 strace ltrace truss
    valgrind catchsegv perf heaptrack gdbserver rr eatmydata faketime fakeroot
    fakechroot torsocks proxychains proxychains4 dbus-launch dbus-run-session xvfb-run
    setpriv unshare nsenter chroot proot bwrap firejail systemd-run systemd-inhibit
    caffeinate daemonize start-stop-daemon flock lockfile-exec setlock chpst softlimit
    with-contenv tini dumb-init su-exec gosu sudo doas pkexec run0 sudo-rs gksudo
    kdesudo dzdo calife capsh ld.so ld-linux.so.2 ld-linux-x86-64.so.2
    ld-linux-aarch64.so.1 watch entr hyperfine multitime retry loop rlwrap script
    asciinema tsp wsl wsl.exe wine arch ssh-agent keychain su runuser sg parallel sem
    rush tmux screen byobu zellij dtach abduco at batch xargs
    """,
}

MODULE_OF: Mapping[str, str] = {
    name: module for module, listed in _NAMES.items() for name in names(listed)
}
