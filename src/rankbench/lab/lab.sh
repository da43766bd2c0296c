#!/bin/bash
# The processes of a lab (`lab/__init__.py` shows what it is), each in a role:
#
#     lab.sh supervise FOLDER COMMAND...     runs what makes the head's namespaces, and removes the folder when they are gone
#     lab.sh head FOLDER                first process of the head
#     lab.sh node FOLDER NAME           first process of a node
#     lab.sh port FOLDER NAME           sets a node's end of its link up, from its network namespace
#     lab.sh ssh FOLDER [-OPTION...] NODE [COMMAND...]        what programs of the head take for ssh
#     lab.sh power FOLDER down|up NODE                        what they call as lab-node
#
# FOLDER holds `nodes` (a name and a clock's offset, or -, each line), `hosts`, `shared` (paths that all must see), as asked for
# `delays` (for the switch; without it there is a bridge), `from_node`, `to_node` (how tc shapes either end of a node's link),
# `slurm.conf`, and the programs that this takes; `pids/NAME` is made. The head says "ready" and its process id, and lasts
# until its standard input ends; all else ends with it, since the kernel ends what runs in a process namespace with its first.
set -eu
PATH=$PATH:/usr/sbin:/sbin
role=$1 folder=$2
shift 2
spaces=(--net --uts --mount --ipc --pid)
starting_s=60
one_user=""
[ ! -e "$folder/one_user" ] || one_user=$folder/one_user

# --- what a node has for itself -------------------------------------------------------------------------------------------

# An empty folder, in which the shared paths that it would hide stay where they are.
own_folder() {
    local place=$1 made=$folder/own path
    mkdir -p "$made"
    mount -t tmpfs -o mode=1777 tmpfs "$made"
    while read -r path; do
        case $path in "$place"/*)
            mkdir -p "$made/${path#"$place"/}"
            mount --rbind "$path" "$made/${path#"$place"/}"
        esac
    done <"$folder/shared"
    mount --rbind "$made" "$place"
}

# A fresh /sys shows the node's own network; control groups stay as they are, since slurmd does not start without them.
own_sys() {
    mkdir -p "$folder/groups"
    [ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$folder/groups"
    mount -t sysfs sysfs /sys
    [ ! -d /sys/fs/cgroup ] || mount --rbind "$folder/groups" /sys/fs/cgroup
}

own_system() {
    hostname "$1"
    mount --bind "$folder/hosts" /etc/hosts
    own_sys
    own_folder /dev/shm
    own_folder /tmp
    mount -t proc proc /proc
    ip link set lo up
}

# --- links ----------------------------------------------------------------------------------------------------------------

# IPv6, where the system has it, would give each port an address that libraries take for a second network.
port_up() {
    [ ! -e /proc/net/if_inet6 ] || ip link set "$1" addrgenmode none
    ip link set "$1" up
}

# What only hands frames on must not answer for the head, as Linux does on every interface it has.
silent_port_up() {
    ip link set "$1" arp off
    port_up "$1"
}

shape() {
    # shellcheck disable=SC2046 # one word an argument of tc
    [ ! -e "$folder/$2" ] || tc qdisc replace dev "$1" root $(cat "$folder/$2")
}

address_of() {
    local address name
    while read -r address name; do
        [ "$name" != "$1" ] || echo "$address"
    done <"$folder/hosts"
}

# The hardware address follows from the other, so that a node that comes up again is still the one that others know.
eth0_up() {
    local address
    address=$(address_of "$1")
    # shellcheck disable=SC2046 # one word a number
    ip link set eth0 address "$(printf '02:00:%02x:%02x:%02x:%02x' $(tr . ' ' <<<"$address"))"
    ip address add "$address/24" dev eth0
    port_up eth0
    [ "$1" = head ] || shape eth0 from_node
}

# A cable from the network namespace of a process to the port v-NAME of the head.
connect() {
    local name=$1 pid=$2
    ip link add "v-$name" type veth peer name eth0 netns "$pid"
    nsenter --target "$pid" --net bash "$0" port "$folder" "$name"
    silent_port_up "v-$name"
    [ "$name" = head ] || shape "v-$name" to_node
    [ ! -e /sys/class/net/bridge ] || ip link set "v-$name" master bridge
}

# A switch finds a port again by its name.
start_switch() {
    local ready ports=() name
    while read -r name _; do ports+=("v-$name"); done < <(echo head; cat "$folder/nodes")
    # shellcheck disable=SC2046 # one word a delay
    exec {ready}< <(exec "$folder/switch" "${ports[@]}" -- $(cat "$folder/delays"))
    read -r _ <&"$ready"
}

start_bridge() {
    ip link add bridge type bridge
    silent_port_up bridge
}

# --- nodes ----------------------------------------------------------------------------------------------------------------

start_node() {
    local node=$1 offset_ns=$2 clock=() pid ready
    [ "$offset_ns" = - ] || clock=("$folder/timens_exec" "$offset_ns")
    exec {ready}< <(exec setsid "${clock[@]}" unshare "${spaces[@]}" --fork --kill-child \
        bash "$0" node "$folder" "$node" </dev/null)
    read -r _ pid <&"$ready"
    connect "$node" "$pid"
    echo "$pid" >"$folder/pids/$node"
    [ ! -e "$folder/slurm.conf" ] || start_slurmd "$node"
}

# Only the head knows the processes of nodes by their numbers.
require_node() {
    [ "$(readlink /proc/self/ns/pid)" = "$(cat "$folder/pids/head")" ] || fail "only the head can reach nodes"
    grep -q "^$1 " "$folder/nodes" || fail "$1: no such node (allowed: $(cut -d' ' -f1 "$folder/nodes" | paste -sd' '))"
}

# Sets `pid` to the node's first process.
find_node() {
    require_node "$1"
    [ -e "$folder/pids/$1" ] || fail "$1 is down"
    read -r pid <"$folder/pids/$1"
}

enter() {
    local pid clock=()
    find_node "$1"
    shift
    [ ! -e "$folder/timens_exec" ] || clock=(--time)
    exec nsenter --target "$pid" "${spaces[@]}" "${clock[@]}" "$@"
}

fail() {
    echo "${called:+$called: }$*" >&2
    exit 255
}

# Options are taken as ssh takes them, and mean nothing here.
go_to() {
    local node=""
    while [ $# -gt 0 ] && [ -z "$node" ]; do
        case $1 in
        -[bcDEeFIiJLlmOopQRSWw]) shift ;;
        -*) ;;
        *) node=${1#*@} ;;
        esac
        shift
    done
    [ -n "$node" ] || fail "usage: ssh [-OPTION...] NODE [COMMAND...]"
    [ $# -gt 0 ] || set -- "exec ${SHELL:-bash}"
    enter "$node" sh -c "cd 2>/dev/null; $*"
}

# The cable goes first: others hear no farewell, as where the power fails.
power() {
    local pid
    case ${1-} in
    down)
        find_node "${2-}"
        rm "$folder/pids/$2"
        ip link delete "v-$2"
        kill -KILL "$pid"
        ;;
    up)
        require_node "${2-}"
        [ ! -e "$folder/pids/$2" ] || fail "$2 is up"
        start_node "$2" "$(sed -n "s/^${2-} //p" "$folder/nodes")" 2>>"$folder/log"
        ;;
    *) fail "usage: lab-node down|up NODE" ;;
    esac
}

# --- Slurm ----------------------------------------------------------------------------------------------------------------

start_slurm_head() {
    local own=$folder/slurm
    (umask 077 && head -c 1024 /dev/urandom >"$own/munge.key")
    munged --force --socket="$own/munge.socket" --key-file="$own/munge.key" --pid-file="$own/munged.pid" \
        --log-file="$own/munged.log" --seed-file="$own/munged.seed" 2>/dev/null || fail "$(tail -n 1 "$own/munged.log")"
    LD_PRELOAD=$one_user slurmctld -D </dev/null >>"$own/slurmctld.out" 2>&1 &
}

start_slurmd() {
    (LD_PRELOAD=$one_user enter "$1" setsid slurmd -D -N "$1" </dev/null >>"$folder/slurm/slurmd-$1.out" 2>&1) &
}

wait_for_slurm() {
    local count until_s=$((SECONDS + starting_s))
    count=$(wc -l <"$folder/nodes")
    until [ "$(timeout 5 sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" = "$count" ]; do
        [ $SECONDS -lt $until_s ] || fail "Slurm does not start: $(grep -h -i -E 'error|fatal' "$folder"/slurm/*.log | tail -1)"
        sleep 0.1
    done
}

start_head() {
    own_system head
    readlink /proc/self/ns/pid >"$folder/pids/head"
    [ -e "$folder/delays" ] || start_bridge
    connect head 1
    [ ! -e "$folder/slurm.conf" ] || start_slurm_head
    while read -r node offset_ns <&3; do start_node "$node" "$offset_ns"; done 3<"$folder/nodes"
    [ ! -e "$folder/delays" ] || start_switch
    [ ! -e "$folder/slurm.conf" ] || wait_for_slurm
}

# --- roles ----------------------------------------------------------------------------------------------------------------

# Until another one is mounted over it, /proc counts processes as the outside does.
read -r outer_pid _ </proc/self/stat
called=""
[ ! -e "$folder/slurm.conf" ] || export SLURM_CONF=$folder/slurm.conf
case $role in
supervise)
    code=0
    "$@" || code=$?
    rm -rf --one-file-system "$folder"
    exit $code
    ;;
head)
    # It listens from the start, so that it ends at once, whatever the rest waits for.
    trap 'exit 1' USR1
    (
        trap 'kill -USR1 1' EXIT
        start_head
        echo "ready $outer_pid"
        trap - EXIT
    ) &
    read -r _ || exit 0
    ;;
node)
    own_system "$1"
    echo "ready $outer_pid"
    exec >/dev/null
    sleep infinity &
    wait $!
    ;;
port) eth0_up "$1" ;;
ssh) called=ssh && go_to "$@" ;;
power) called=lab-node && power "$@" ;;
esac
