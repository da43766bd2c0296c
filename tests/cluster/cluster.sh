#!/bin/bash
# First process of an emulated cluster's head, and of each of its nodes (nodes.py tells what they are).
#
#     cluster.sh head FOLDER NODE=OFFSET_NS...      cluster.sh node FOLDER NAME      (cluster.sh eth0 FOLDER ADDRESS)
#
# FOLDER holds the programs timens_exec and switch, `hosts`, `shared` (paths that all must see), `delays` (for the switch; without
# it there is a bridge), and gets `pids/NAME`. Either process says "ready" and lasts until its standard input ends; all else that
# runs in its pid namespace ends with it.
set -eu
PATH=$PATH:/usr/sbin:/sbin
role=$1 folder=$2
shift 2

# An empty folder for what is this node's alone, in which the shared paths that it would hide stay where they are.
own_folder() {
    local place=$1 made=$folder/own path
    mkdir -p "$made"
    mount -t tmpfs -o mode=1777 tmpfs "$made"
    while read -r path; do
        case $path in "$place"/*)
            mkdir -p "$made/${path#"$place"/}"
            mount --bind "$path" "$made/${path#"$place"/}"
        esac
    done <"$folder/shared"
    mount --rbind "$made" "$place"
}

own_system() {
    hostname "$1"
    mount --bind "$folder/hosts" /etc/hosts
    own_folder /dev/shm
    own_folder /tmp
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    ip link set lo up
}

# IPv6, where the system has it, would give each port an address that libraries take for a second network.
port_up() {
    [ ! -e /proc/net/if_inet6 ] || ip link set "$1" addrgenmode none
    ip link set "$1" up
}

# A cable from the network namespace of a process to the port v-NAME of the head.
connect() {
    local name=$1 pid=$2
    ip link add "v-$name" type veth peer name eth0 netns "$pid"
    nsenter --target "$pid" --net bash "$0" eth0 "$folder" "$(address_of "$name")"
    port_up "v-$name"
}

address_of() {
    local address name
    while read -r address name; do
        [ "$name" != "$1" ] || echo "$address"
    done <"$folder/hosts"
}

start_node() {
    local node=${1%=*} offset_ns=${1#*=} pid
    exec {out}< <(exec "$folder/timens_exec" "$offset_ns" unshare --net --uts --mount --ipc --pid --fork --kill-child \
        bash "$0" node "$folder" "$node")
    read -r _ pid <&"$out"
    echo "$pid" >"$folder/pids/$node"
    connect "$node" "$pid"
}

join_ports() {
    local ports=(v-head "${@/#/v-}") port
    if [ -e "$folder/delays" ]; then
        # shellcheck disable=SC2046 # one word a delay
        exec {out}< <(exec "$folder/switch" "${ports[@]}" -- $(cat "$folder/delays"))
        read -r _ <&"$out"
        return
    fi
    ip link add bridge type bridge
    for port in "${ports[@]}"; do ip link set "$port" master bridge; done
    port_up bridge
}

last_until_input_ends() {
    echo "ready $pid"
    read -r _ || exit 0
}

# Until another one is mounted over it, /proc counts processes as the outside does.
read -r pid _ </proc/self/stat
case $role in
head)
    own_system head
    connect head 1
    for node in "$@"; do start_node "$node"; done
    join_ports "${@%=*}"
    last_until_input_ends
    ;;
node)
    own_system "$1"
    last_until_input_ends
    ;;
eth0)
    ip address add "$1/24" dev eth0
    port_up eth0
    ;;
esac
