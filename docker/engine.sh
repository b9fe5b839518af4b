#!/bin/sh
# Provide a Docker daemon for the sandbox, and take back only what was provided.
#
#   engine.sh start    use the daemon that answers; else, as root on Debian or Ubuntu, install and start one
#   engine.sh stop     stop the daemon if, and only if, `start` started it
#   engine.sh status   say which daemon answers and whether it is ours
#
# No init system is assumed, and no bridge or firewall rule is made: a sandbox has no network.
# Exit status: 0 done; 1 no daemon can run here (one line on standard error says why).
set -eu

STATE_DIR=${LEAKSCALE_ENGINE_DIR:-/run/leakscale-engine}
PID_FILE=$STATE_DIR/dockerd.pid
LOG_FILE=$STATE_DIR/dockerd.log
WAIT_S=60

say() { printf 'engine: %s\n' "$*"; }
refuse() { printf 'engine: %s\n' "$*" >&2; exit 1; }

# Ask the daemon itself; a client's own version proves nothing.
answers() { command -v docker >/dev/null 2>&1 && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# A process id alone may have been given to somebody else since; the name must fit too.
is_ours() {
    [ -s "$PID_FILE" ] && pid=$(cat "$PID_FILE") && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]
}

is_debian() {
    [ -r /etc/os-release ] && (. /etc/os-release; case " ${ID:-} ${ID_LIKE:-} " in *" debian "* | *" ubuntu "*) ;; *) exit 1 ;; esac)
}

install_engine() {
    command -v dockerd >/dev/null 2>&1 && return
    is_debian || refuse "no dockerd here, and only Debian and Ubuntu are installed by this script; install Docker"
    say "installing docker.io"
    mkdir -p "$STATE_DIR"
    apt_log=$STATE_DIR/apt.log
    # Services that the package would start are ours to start: there may be no init system to do it.
    apt="env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o DPkg::Lock::Timeout=120"
    {
        $apt update && $apt install -y --no-install-recommends docker.io
    } >"$apt_log" 2>&1 </dev/null || refuse "apt-get could not install docker.io: $(tail -n 1 "$apt_log")"
    # Ubuntu of some ages keeps the client in a package of its own.
    command -v docker >/dev/null 2>&1 || $apt install -y --no-install-recommends docker-cli >>"$apt_log" 2>&1 </dev/null ||
        refuse "the docker client is missing after docker.io was installed"
}

# A bare container or micro virtual machine often has no cgroup file system mounted.
mount_cgroups() {
    grep -q ' /sys/fs/cgroup' /proc/mounts && return
    mkdir -p /sys/fs/cgroup
    mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null || refuse "no cgroup file system is mounted and none can be"
}

start_engine() {
    mkdir -p "$STATE_DIR"
    # A pid file that a killed daemon left behind would stop the next one.
    rm -f "$PID_FILE"
    pid_of_package=/var/run/docker.pid
    if [ -s "$pid_of_package" ] && ! kill -0 "$(cat "$pid_of_package")" 2>/dev/null; then rm -f "$pid_of_package"; fi
    # setsid: the daemon must outlive the shell, the make and the terminal that asked for it.
    setsid dockerd --bridge=none --iptables=false --ip-forward=false --ip-masq=false >"$LOG_FILE" 2>&1 </dev/null &
    pid=$!
    waited=0
    until answers; do
        if ! kill -0 "$pid" 2>/dev/null || [ "$waited" -ge "$((WAIT_S * 5))" ]; then
            kill "$pid" 2>/dev/null || true
            refuse "dockerd cannot run here: $(grep -v level=info "$LOG_FILE" | tail -n 1)"
        fi
        sleep 0.2
        waited=$((waited + 1))
    done
    # setsid forks when it leads a group already, so ask by name which child became the daemon.
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] || pid=$(cat "$pid_of_package")
    echo "$pid" >"$PID_FILE"
    say "started dockerd $(docker version --format '{{.Server.Version}}')"
}

start() {
    answers && return
    [ "$(id -u)" = 0 ] || refuse "no Docker daemon answers, and only root can start one; start Docker, or use bubblewrap"
    install_engine
    answers && return
    mount_cgroups
    start_engine
}

stop() {
    if ! is_ours; then rm -f "$PID_FILE" 2>/dev/null || true; return; fi
    kill "$pid"
    waited=0
    while [ -d "/proc/$pid" ] && [ "$waited" -lt "$((WAIT_S * 5))" ]; do sleep 0.2; waited=$((waited + 1)); done
    [ ! -d "/proc/$pid" ] || refuse "dockerd $pid does not stop"
    rm -f "$PID_FILE"
    say "stopped dockerd"
}

status() {
    answers || refuse "no Docker daemon answers"
    owner="not ours"
    if is_ours; then owner="started by this script"; fi
    say "dockerd $(docker version --format '{{.Server.Version}}') answers ($owner)"
}

case ${1:-} in
    start | stop | status) "$1" ;;
    *) refuse "usage: engine.sh start|stop|status" ;;
esac
