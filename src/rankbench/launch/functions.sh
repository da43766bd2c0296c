# --- how launches are made; nothing below needs to be changed up to the list of launches ------------------------------

job=$campaign/job
longest_s=0
launcher_pid=""
starting=""
starting_member=""
open_launch=""
members=()
turns=()
end_signals="TERM INT HUP ALRM USR1 USR2" # schedulers send these at the end of a job's time, or when its nodes are needed
time_signals=${time_signals:-ALRM} # they say that the time is over
remote_start=${remote_start:-}
ask_s=60 # after so long without a sign of life of a launch, the scheduler is asked for lost nodes
exit_code=0

say() { printf '%s  %s\n' "$(date '+%F %T')" "$*"; }

# join_nodes FIRST COUNT [SUFFIX]: prints the names of successive nodes of the job, the first one being 0, with commas between.
join_nodes() {
    local IFS=, names=("${node[@]:$1:$2}")
    names=("${names[@]/%/${3:-}}")
    printf %s "${names[*]}"
}

now_ms() { date +%s%3N; }

format_ms() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }

read_stolen_ms() {
    local _ ticks
    read -r _ _ _ _ _ _ _ _ ticks _ </proc/stat
    echo $((${ticks:-0} * 1000 / $(getconf CLK_TCK)))
}

read_load() {
    local load _
    read -r load _ </proc/loadavg
    echo "$load"
}

# Only one job at a time works on a campaign. Launches do not inherit the lock.
begin_job() {
    mkdir -p "$job/checks" "$job/launches" "$job/dead" "$job/nothing" "$job/restless" "$job/alone"
    lock_campaign
    if [ "${#node[@]}" -lt "$nodes_wanted" ]; then
        say "this job has ${#node[@]} of the $nodes_wanted nodes that it needs (${node[*]}): nothing is done"
        exit 1
    fi
    rm -f "$job/stopped"
    echo "${job_id:--}" >"$job/begun"
    handle_signals
    write_remote_shell
    # Launches that ran together when the last job was killed.
    examine_launches || end_for_lost_nodes "$job"
    say "job ${job_id:-without number} on ${node[*]}"
    for _ in {1..12}; do
        ! ready >/dev/null 2>&1 </dev/null || break
        sleep 5
    done
}

# write_remote_shell: writes the program that launchers call as they call ssh: options, a node, a command for a shell.
# A node whose command is stopped removes what its ranks left itself: a scheduler that ends a job starts nothing there any more.
write_remote_shell() {
    [ -n "$remote_start" ] || return 0
    cat >"$job/rsh.part" <<END
#!/bin/bash
while [ "\${1#-}" != "\$1" ]; do
    case \$1 in -[bcDEeFIiJLlmOopQRSWw]) shift ;; esac
    shift
done
host=\$1
shift
clean=$(printf %q "$clean_node")
set -- "cut=; trap 'cut=1' HUP INT TERM; (\$*); code=\\\$?; [ -z \"\\\$cut\" ] || { \$clean; }; exit \\\$code"
$remote_start
END
    chmod +x "$job/rsh.part" && mv "$job/rsh.part" "$job/rsh"
}

lock_campaign() {
    exec 9>"$job/lock"
    flock -n -E 75 9 2>/dev/null
    case $? in
        0) return ;;
        75) say "another job works on $campaign: nothing is done" ;;
        *)
            say "this file system has no locks (mount option flock); $job/lock.d is used instead"
            ! lock_by_folder || return
            ;;
    esac
    exit 1
}

is_elsewhere() { [ "$host" != "$(hostname)" ] && [ "$id" != "${job_id:-none}" ]; }

# Only one process can create a folder. A killed job leaves it: stale if its process is gone, or if this is the same job again.
lock_by_folder() {
    local id="" host="" pid="" folder=$job/lock.d
    if ! mkdir "$folder" 2>/dev/null; then
        read -r id host pid 2>/dev/null <"$folder/owner"
        if is_elsewhere || { [ "$host" = "$(hostname)" ] && kill -0 "$pid" 2>/dev/null; }; then
            say "job ${id:-unknown} on ${host:-unknown} works on $campaign: nothing is done; if it has ended: rm -r $folder"
            return 1
        fi
    fi
    echo "${job_id:--} $(hostname) $$" >"$folder/owner"
    trap 'rm -rf "$job/lock.d"' EXIT
}

handle_signals() {
    local signal
    for signal in $end_signals; do
        # shellcheck disable=SC2064 # expanded now
        trap "interrupted $signal" "$signal"
    done
}

# The last launch has no ending, so it is made again when the script runs again. If a node was lost during a case, the launch gets
# a row, whether the signal or the loss was noticed first. Variables of `run` are visible here. Launches that run together end their
# own launchers; their results are examined once for all of them.
interrupted() {
    local reason
    # shellcheck disable=SC2086 # its words; some schedulers send several at once
    trap '' $end_signals
    # The signal may have come after the launcher's start and before its number was kept.
    [ -z "$starting" ] || [ "$!" = "$starting" ] || launcher_pid=$!
    [ -z "$starting_member" ] || [ "$!" = "$starting_member" ] || members+=("$!")
    if [ "$BASHPID" != "$$" ]; then
        [ -z "$launcher_pid" ] || end_launcher "$launcher_pid"
        [ -z "$open_launch" ] || [ -e "$open_launch/ending" ] || write_ending "${code:-143}" false cut
        exit 143
    fi
    case " $time_signals " in
        *" $1 "*) reason="time" && say "the time of this job is over; submit it again to continue" ;;
        *) reason="signal SIG$1" && say "ended by SIG$1; run this again to continue" ;;
    esac
    echo "$reason" >"$job/stopped"
    if [ "${#members[@]}" != 0 ]; then
        # Bash loses a signal that a process gets while it begins; one that ends its launch ignores further ones.
        while kill -TERM "${members[@]}" 2>/dev/null; do sleep 0.2; done
        wait "${members[@]}"
        rm -f "${page%\%}"*
        echo $((($(now_ms) - start_ms) / 1000)) >"$job/cut_s"
    fi
    # Also for launches that have ended and were not examined yet: the next job may have other nodes, and would not see what was lost.
    # A signal to an unreachable node may be delivered later, to the ranks of the next run of the job.
    if [ -e "$job/beside" ] && examine_launches; then end_ranks; fi
    [ -z "$launcher_pid" ] || end_launcher "$launcher_pid"
    if [ -n "$open_launch" ]; then
        list_lost_nodes >"$open_launch/lost"
        [ -s "$open_launch/lost" ] || end_ranks
        if [ -s "$open_launch/lost" ] && [ ! -e "$open_launch/ending" ] && has_results "$open_launch" "$function"; then
            write_ending "${code:-143}" false ending
        fi
    fi
    clean_nodes
    exit 143
}

# has_results FOLDER FUNCTION: whether a launch had begun to measure; foreign programs do not show it.
has_results() { is_foreign "$2" || [ "$(count_begun "$1")" != 0 ]; }

end_launch() {
    end_launcher "$1"
    end_ranks
}

# end_launcher PID: ends the launcher, which can clean up, and half a second later its process group; removes their files in /dev/shm.
end_launcher() {
    local descendants shared launcher tenths=50
    descendants=$(list_descendants "$1")
    shared=$(list_shared_memory <<<"$descendants")
    read -r launcher 2>/dev/null <"/proc/$1/task/$1/children"
    # shellcheck disable=SC2086 # its words
    [ -z "$launcher" ] || kill -TERM $launcher 2>/dev/null
    wait_for_group "$1" 5
    kill -TERM -- "-$1" 2>/dev/null
    wait_for_group "$1" 50
    kill -KILL -- "-$1" 2>/dev/null
    # A killed process that waits for a CPU still maps its files.
    while [ -n "$shared" ] && [ "$tenths" -gt 0 ] && [ -n "$(list_shared_memory <<<"$descendants")" ]; do
        sleep 0.1
        tenths=$((tenths - 1))
    done
    remove_shared_memory <<<"$shared"
}

# wait_for_group PID TENTHS: waits until the process group has ended, or the time is over.
wait_for_group() {
    local tenths=$2
    while [ "$tenths" -gt 0 ] && kill -0 -- "-$1" 2>/dev/null; do
        sleep 0.1
        tenths=$((tenths - 1))
    done
}

# list_descendants PID: prints the descendants of a process.
list_descendants() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) .*) [A-Za-z] \([0-9]*\) .*/\1 \2/p' | awk -v top="$1" '
        { parent[$1] = $2 }
        END { for (pid in parent) for (up = parent[pid]; up in parent; up = parent[up]) if (up == top) { print pid; break } }'
}

# list_shared_memory: reads process numbers; prints inode and path of the files in /dev/shm that these processes map.
list_shared_memory() {
    local pid
    while read -r pid; do
        sed -n '/ (deleted)$/d; s|^[^ ]* [^ ]* [^ ]* [^ ]* \([0-9]*\) *\(/dev/shm/.*\)$|\1 \2|p' "/proc/$pid/maps" 2>/dev/null
    done | sort -u
}

# remove_shared_memory: reads files; removes those of this user that no process maps.
remove_shared_memory() {
    local inode path
    while read -r inode path; do
        [ -O "$path" ] && [ "$(stat -c %i "$path" 2>/dev/null)" = "$inode" ] || continue
        grep -qsF " $path" /proc/[0-9]*/maps || rm -f "$path"
    done
}

# copy_output FOLDER: copies the beginning and the end of a launch's output to output.log, so that endless output does not fill the
# disk. Signals to all processes of the job do not end it before the launch. A full disk must not stop the launch.
copy_output() {
    local log=$1/output.log rest=$1/output.rest chunks=0 last omitted
    # shellcheck disable=SC2086 # its words
    trap '' $end_signals
    copy_chunk "$log"
    while copy_chunk "$rest.next" && [ -s "$rest.next" ]; do
        mv "$rest.next" "$rest.$((chunks % 2))"
        chunks=$((chunks + 1))
    done
    rm -f "$rest.next"
    if [ "$chunks" -gt 0 ]; then
        last=$(stat -c %s "$rest.$(((chunks - 1) % 2))")
        omitted=$(((chunks - 1) * output_bytes + last - output_bytes))
        echo $((chunks * output_bytes + last)) >"$1/output_bytes"
        {
            [ "$omitted" -le 0 ] || printf '\n[rankbench left out %d bytes of output here]\n' "$omitted"
            cat "$rest.$((chunks % 2))" "$rest.$(((chunks - 1) % 2))" 2>/dev/null | tail -c "$output_bytes"
        } >>"$log"
    fi
    rm -f "$rest".[01]
}

# copy_chunk FILE: copies standard input to the file as it arrives, up to the limit.
copy_chunk() { stdbuf -o0 head -c "$output_bytes" 2>/dev/null >"$1" || cat >/dev/null; }

# await_end PID TENTHS: waits until a process has ended; ends it when the time is over.
await_end() {
    local tenths=$2
    while kill -0 "$1" 2>/dev/null; do
        [ "$tenths" -gt 0 ] || kill -KILL "$1" 2>/dev/null
        tenths=$((tenths - 1))
        sleep 0.1
    done
}

leave_s=${leave_s:-20} # what is left of the job's time when its script ends: to end ranks, and to remove their files on each node

# watch_growth PID FOLDER FILE: ends a launch whose file does not change for too long. Launches that wait for a turn touch it.
# Schedulers leave a job less than a few seconds at the end of its time, so that the script ends before.
watch_growth() {
    local state last="" silent_s=0
    while sleep 1 && kill -0 "$1" 2>/dev/null; do
        [ "$time_s" = 0 ] || [ $((time_s - SECONDS)) -gt "$leave_s" ] || kill -ALRM $$
        state=$(stat -c '%s %y' "$3" "$2"/output.rest.* 2>/dev/null)
        silent_s=$((silent_s + 1))
        [ "$state" = "$last" ] || silent_s=0
        last=$state
        if [ "$silent_s" -ge "$silence_s" ]; then
            touch "$2/hung"
            end_launch "$1"
        elif [ "$silent_s" != 0 ] && [ $((silent_s % ask_s)) = 0 ] && [ -n "$(list_lost_nodes)" ]; then
            end_launcher "$1" # Not every launcher notices that a node is lost.
        fi
    done
}

# is_foreign FUNCTION: whether it launches a foreign program, which has its own arguments and prints its results.
is_foreign() { [ -n "${checked[$1]:-}" ]; }

# Lines of variables that may hold secrets, which are stored nowhere.
secrets='^[^=]*(TOKEN|SECRET|PASSW|CREDENTIAL)|^([^=]*_)?(PASS|AUTH|JWT)(_[^=]*)?=|^([^=]*(_|API|AUTH|ACCESS|PRIVATE))?KEYS?(_[^=]*)?='

# run FUNCTION FOLDER ARGUMENT...: makes one launch. `together` is the number of launches that run at the same time.
together=1
output_bytes=1048576 # kept of the beginning of what a launch prints, and of its end
run() {
    local function=$1 out=$2 program=${core[$1]} grows=$2/stream.jsonl start start_ms load stolen watcher code hung=false copier
    shift 2
    rm -f "$out"/ending "$out"/cut "$out"/hung "$out"/lost "$out"/output.rest.* "$out"/output_bytes
    mkdir -p "$out"
    : >"$out/stream.jsonl"
    ! is_foreign "$function" || grows=$out/output.log
    printf '%s\n' "${node[@]}" >"$out/nodes"
    env | grep -E "^($mpi_variables)" | grep -viE "$secrets" >"$out/environment"
    [ "$together" -gt 1 ] || probe_state "$program" "$out/before.json"
    load=$(read_load) stolen=$(read_stolen_ms) start=$(date -u +%FT%T.%3N+00:00) start_ms=$(now_ms)
    : >"$out/output.log"
    exec 8> >(copy_output "$out" 9>&-)
    copier=$!
    starting=$copier
    set -m
    open_launch=$out
    "$function" "$@" --stream "$out/stream.jsonl" >&8 2>&1 </dev/null 8>&- 9>&- &
    launcher_pid=$!
    starting=""
    set +m
    exec 8>&-
    watch_growth "$launcher_pid" "$out" "$grows" 9>&- &
    watcher=$!
    wait "$launcher_pid"
    code=$?
    launcher_pid=""
    # The process that noticed the hang may not have ended all of it.
    if [ -e "$out/hung" ]; then hung=true; else kill "$watcher" 2>/dev/null; fi
    wait "$watcher" 2>/dev/null
    await_end "$copier" 50
    [ "$together" -gt 1 ] || probe_state "$program" "$out/after.json"
    if ! is_foreign "$function"; then
        if [ "$code" = 4 ] || grep -q 'the stream cannot be written' "$out/output.log"; then disk_is_full; fi
    fi
    write_ending "$code" "$hung" ending
    [ "$code" = 0 ] || clean_nodes
}

# clean_nodes: removes what ended ranks left in shared memory: here, and on other nodes where the scheduler runs commands there.
clean_nodes() (
    sh -c "$clean_node" >/dev/null 2>&1 </dev/null 9>&- &
    asked=1
    for entry in "${node[@]}"; do
        [ -x "$job/rsh" ] || break
        timeout 10 "$job/rsh" "$entry" "$clean_node" >/dev/null 2>&1 </dev/null 9>&- &
        asked=$((asked + 1))
        [ "$asked" -le 64 ] || wait -n
    done
    wait
)

# probe_state WORDS FILE...: measures the state of the machine, once for launches that run together, since several probes would
# disturb each other.
probe_state() {
    local program=$1 first=$2 file
    shift 2
    eval "timeout 30 $program --state" >"$first" 2>/dev/null
    for file in "$@"; do cp "$first" "$file" 2>/dev/null; done
}

# write_ending CODE HUNG NAME: writes how the launch of `run` ended. A folder with a file `ending` is complete.
write_ending() {
    local duration_ms=$(($(now_ms) - start_ms)) duration_s stolen_s
    [ $((duration_ms / 1000)) -le "$longest_s" ] || longest_s=$((duration_ms / 1000))
    duration_s=$(format_ms "$duration_ms") stolen_s=$(format_ms $(($(read_stolen_ms) - stolen)))
    # A signal to all processes of the job also ends what reads a value, which is then missing.
    printf '{"exit_code":%d,"hung":%s,"duration_s":%s,"started":"%s","load":%s,"stolen_s":%s,"job":"%s","together":%d}\n' \
        "$1" "$2" "${duration_s:-0}" "$start" "${load:-0}" "${stolen_s:-0}" "$job_id" "$together" \
        >"$out/$3.part" && mv "$out/$3.part" "$out/$3" || disk_is_full
}

# Not a failure of the candidate: the launch has no ending, so it is made again.
disk_is_full() {
    say "$out cannot be written: is the disk full, or a quota reached? Fix that and run this again"
    echo "disk" >"$job/stopped"
    exit 1
}

# is_complete FOLDER FUNCTION: whether a launch ended normally.
is_complete() {
    if is_foreign "$2"; then
        grep -q '^{"exit_code":0,"hung":false,' "$1/ending"
    else
        grep -q '^{"record":"end"' "$1/stream.jsonl"
    fi
}

count_begun() { grep -c '^{"record":"begin"' "$1/stream.jsonl"; }

# check FUNCTION: checks that the ranks find each other and their data; else the candidate is not launched. The library reports what
# it uses. A failed check is repeated without reports, which can hide the reason.
check() {
    local out=$job/checks/$1
    [ ! -e "$out/passed" ] || return 0
    # shellcheck disable=SC2086 # its words
    [ -n "${reports[$1]:-}" ] && try_check "$1" "$out" ${reports[$1]} && return 0
    try_check "$1" "$out" && return 0
    exit_code=3
    say "$1: its check failed, so that it is not launched; see $out/output.log"
}

# try_check FUNCTION FOLDER SETTING...: makes one launch of a check, with these variables set.
try_check() {
    local function=$1 out=$2 setting
    shift 2
    for setting; do local -x "${setting?}"; done
    run "$function" "$out" --check
    open_launch=""
    is_complete "$out" "$function" &&
        grep -q "^{\"record\":\"launch\".*\"ranks\":${ranks[$function]}," "$out/stream.jsonl" && touch "$out/passed"
}

# block NUMBER: begins a block; its launches follow, and `end_block` makes them.
block() {
    if [ -e "$job/enough" ]; then
        say "enough: $(cat "$job/enough")"
        compare_sums
        exit "$exit_code"
    fi
    say "block $1"
}

# A launch that could not end within the job's time does not start.
require_time() {
    [ "$time_s" != 0 ] || return 0
    [ $((time_s - SECONDS)) -le $((longest_s + longest_s / 2 + 30)) ] || return 0
    say "no time left in this job for another launch; submit it again to continue"
    echo "time" >"$job/stopped"
    exit 0
}

# list_pending TRY CASES FUNCTION: prints the cases to measure. A case in which two launches died is not tried again: in a launch
# with others, its turn is passed.
list_pending() {
    local before
    if [ "$1" = 1 ]; then
        sort "$job/dead/$3" 2>/dev/null | uniq -d | awk '
            FILENAME != ARGV[2] { dead[$0]; next }
            !/^case / { print; next }
            $0 in dead { passed++; next }
            passed { print "pass " passed; passed = 0 }
            { print }' - "$2"
    else
        before=$turn/$(($1 - 1))
        grep -v -e '^case ' -e '^pass ' "$before/job.txt"
        # Cases that began in an earlier pass are not measured again.
        grep '^case ' "$before/job.txt" | head -n "$(count_begun "$before")" >"$before/begun"
        grep '^case ' "$before/job.txt" | grep -vxF -f "$before/begun"
    fi
}

# Prints the nodes of the job that no longer answer: those known to be lost, and those that do not answer when asked.
list_lost_nodes() {
    { list_lost 2>/dev/null </dev/null | find_nodes; ask_nodes; } | sort -uV
}

# find_nodes: reads names, with or without domains; prints the nodes of the job with these names.
find_nodes() {
    awk 'function shorten(name) { if (name !~ /^[0-9.:]+$/) sub(/[.].*/, "", name); return name }
        FNR == NR { named[shorten($0)]; next }
        shorten($0) in named' - <(printf '%s\n' "${node[@]}")
}

# ask_nodes: asks each node, at most 64 at a time; prints those that do not answer.
ask_nodes() (
    asked=0
    for entry in "${node[@]}"; do
        { answers "$entry" >/dev/null 2>&1 </dev/null || echo "$entry"; } &
        asked=$((asked + 1))
        [ "$asked" -le 64 ] || wait -n
    done
    wait
)

# A launch that died with a node is not a failure of its candidate; the next job measures its remaining cases.
end_if_nodes_are_lost() {
    list_lost_nodes >"$1/lost"
    [ ! -s "$1/lost" ] || end_for_lost_nodes "$1"
}

end_for_lost_nodes() {
    say "no answer from $(paste -sd ' ' "$1/lost"): this job ends; submit it again to continue on other nodes"
    echo "lost $(paste -sd ' ' "$1/lost")" >"$job/stopped"
    exit 1
}

# find_fatal_case FOLDER FUNCTION: prints the case in which a launch died, as in its job. A foreign program cannot skip the size in
# which it dies: after a crash, smaller sizes are still measured in every block; after a hang, that would take too long.
find_fatal_case() {
    if is_foreign "$2"; then
        [ ! -e "$1/hung" ] || echo "hung"
    elif [ "$(count_begun "$1")" = 0 ]; then
        echo "no start"
    else
        grep '^case ' "$1/job.txt" | sed -n "$(count_begun "$1")p"
    fi
}

# launch NAME FUNCTION CASES [alone or GROUP]: adds a turn to the block; `end_block` makes it.
launch() { turns+=("$1 $2 $3 ${4:-}"); }

# Candidates with the same cases, and of the same group if there are groups, measure in turn. Cases that remain after crashes, and
# launches that must be alone, follow.
end_block() {
    local entry group
    for group in $(printf '%s\n' "${turns[@]}" | awk '$4 != "alone" && !seen[$3 "/" $4]++ { print $3 "/" $4 }'); do
        make_together "${group%/*}" "${group##*/}"
    done
    for entry in "${turns[@]}"; do
        # shellcheck disable=SC2086 # its words
        make_turn $entry
    done
    turns=()
}

# is_open NAME FUNCTION: whether a turn is not done, and its candidate passed its check.
is_open() { [ ! -e "$job/launches/$1/done" ] && [ -e "$job/checks/${checked[$2]:-$2}/passed" ]; }

# is_given_up FUNCTION: whether two launches did not start, or a foreign program hung in two.
is_given_up() {
    local deaths
    deaths=$(grep -cx -e "no start" -e "hung" "$job/dead/$1" 2>/dev/null)
    [ "${deaths:-0}" -ge 2 ]
}

# make_together CASES GROUP: makes the first launches of the turns with these cases at the same time, each as a background process.
# `beside` names them until their results are examined.
make_together() {
    local entry name function cases group out folders companions=() page number=0 case_count together code disk_full=false cut_s=0
    for entry in "${turns[@]}"; do
        read -r name function cases group <<<"$entry"
        out=$job/launches/$name/1
        [ "$cases" = "$1" ] && [ "$group" = "$2" ] && [ ! -e "$job/alone/$function" ] || continue
        [ ! -e "$out/ending" ] && is_open "$name" "$function" && ! is_given_up "$function" || continue
        mkdir -p "$out"
        list_pending 1 "$job/cases/$cases" "$function" >"$out/job.txt"
        grep -q '^case ' "$out/job.txt" || continue
        [ "${#companions[@]}" -ge 64 ] || companions+=("$name $function")
    done
    together=${#companions[@]}
    [ "$together" -gt 1 ] || return 0
    # Launches that did not end within an earlier job are made one after the other, so that some of them end in this one.
    read -r cut_s 2>/dev/null <"$job/cut_s"
    [ "$time_s" = 0 ] || [ $((cut_s + cut_s / 2 + 30)) -lt "$time_s" ] || return 0
    require_time
    say "${companions[*]%% *}, launch 1, in turn"
    printf '%s\n' "${companions[@]}" >"$job/beside"
    page=/dev/shm/rankbench-turns-$job_id-$$-$RANDOM$RANDOM-%
    case_count=$(grep '^case ' "$job/cases/$1" | sort -u | wc -l)
    folders=("${companions[@]% *}") folders=("${folders[@]/#/$job/launches/}")
    probe_state "${core[${companions[0]#* }]}" "${folders[@]/%//1/before.json}"
    start_ms=$(now_ms)
    for entry in "${companions[@]}"; do
        printf '%s\n' "${companions[@]#* }" >"$job/launches/${entry% *}/1/beside"
        starting_member=${!:-none}
        run_beside "${entry#* }" "$job/launches/${entry% *}/1" --turns "$number/$together/$case_count:$page" &
        members+=("$!")
        starting_member=""
        number=$((number + 1))
    done
    for entry in "${members[@]}"; do
        wait "$entry"
        code=$?
        [ "$code" != 1 ] || disk_full=true
    done
    members=()
    probe_state "${core[${companions[0]#* }]}" "${folders[@]/%//1/after.json}"
    rm -f "${page%\%}"* # There is one only where not all launches came.
    ! $disk_full || exit 1  # The member has reported it.
    [ $((($(now_ms) - start_ms) / 1000)) -le "$longest_s" ] || longest_s=$((($(now_ms) - start_ms) / 1000))
    examine_launches || end_for_lost_nodes "$job"
    # Their results can be collected now, and not only after the other groups of the block.
    for entry in "${companions[@]}"; do
        out=$job/launches/${entry% *}
        ! { [ -e "$out/1/ending" ] && is_complete "$out/1" "${entry#* }"; } || touch "$out/done"
    done
}

# run_beside FUNCTION FOLDER ARGUMENT...: makes a launch beside others.
run_beside() {
    local function=$1 out=$2
    shift 2
    members=() starting_member=""
    handle_signals
    run "$function" "$out" --job "$out/job.txt" --quiet "$@"
}

# Examines launches that ran at the same time. A hung launch may have stopped the others, which are made again. A launch that measured
# nothing beside the others in two blocks, or used too much CPU time while it slept, is alone from then on. Not so if nodes were lost.
examine_launches() {
    local name function out dead=() cut=() shares=() entry hung=false block=
    [ -e "$job/beside" ] || return 0
    while read -r name function; do
        out=$job/launches/$name/1 block=${name%%-*} # Turns are named so: 001-LINE.
        if [ -e "$out/cut" ]; then
            cut+=("$function $out")
        elif [ -e "$out/ending" ] && is_complete "$out" "$function"; then
            shares+=("$(compute_rest_share "$out") $function")
        elif [ -e "$out/ending" ]; then
            dead+=("$function $out")
            [ ! -e "$out/hung" ] || hung=true
        fi
    done <"$job/beside"
    entry=$(printf '%s\n' "${shares[@]}" | find_restless)
    [ -z "$entry" ] || note_restless "${entry#* }" "${entry%% *}" "$block"
    : >"$job/lost"
    [ "${#dead[@]}${#cut[@]}" = 00 ] || list_lost_nodes >"$job/lost"
    for entry in "${cut[@]}"; do
        function=${entry%% *} out=${entry#* }
        if [ -s "$job/lost" ] && has_results "$out" "$function"; then
            cp "$job/lost" "$out/lost"
            mv "$out/cut" "$out/ending"
        else
            rm -f "$out/cut"
        fi
    done
    for entry in "${dead[@]}"; do
        function=${entry%% *} out=${entry#* }
        if [ -s "$job/lost" ]; then
            cp "$job/lost" "$out/lost"
        elif $hung && [ ! -e "$out/hung" ]; then
            rm -rf "$out"
        elif [ "$(count_begun "$out")" = 0 ]; then
            note_empty_launch "$function" "$out"
            rm -rf "$out"
        else
            find_fatal_case "$out" "$function" >>"$job/dead/$function"
        fi
    done
    rm -f "$job/beside"
    [ ! -s "$job/lost" ]
}

# note_empty_launch FUNCTION FOLDER: notes a launch that measured nothing beside others; after two blocks it is launched alone.
note_empty_launch() {
    local reason code block=${2%/*}
    block=${block##*/} block=${block%%-*} # Turns are named so: 001-LINE.
    if ended_from_outside "$2"; then
        say "$1 was ended from outside; its turn is made again"
        return 0
    fi
    code=$(sed -nE 's/^\{"exit_code":(-?[0-9]+),.*/\1/p' "$2/ending")
    reason="did not start: exit code $code"
    [ ! -e "$2/hung" ] || reason="no sign of life for $silence_s s"
    say "$1 measured nothing beside the others: $reason$(last_line "$2")"
    echo "$block" >>"$job/nothing/$1"
    [ "$(sort -u "$job/nothing/$1" | wc -l)" -ge 2 ] || return 0
    echo "two launches measured nothing beside the others: $reason" >"$job/alone/$1"
    say "$1 is launched alone from now on, because $(cat "$job/alone/$1")"
}

# last_line FOLDER: prints the last line of a launch's output, before its folder is removed.
last_line() { sed -n '/[^[:space:]]/h; ${x; /./s/^/; its last line: /p}' "$1/output.log" 2>/dev/null | cut -c 1-500; }

# ended_from_outside FOLDER: whether SIGHUP, SIGINT, SIGKILL or SIGTERM ended the launcher itself; its exit code then says nothing
# about the ranks.
ended_from_outside() {
    grep -qE '^\{"exit_code":(129|130|137|143),"hung":false,' "$1/ending" &&
        ! grep -qiE 'signal:? [0-9]+|srun: error: [^ ]+: tasks? ' "$1/output.log"
}

# compute_rest_share FOLDER: prints CPU time of its processes while others measured, over the waiting time of its ranks if that is
# 0.1 s or more.
compute_rest_share() {
    sed -nE 's/^\{"record":"end".*"waited_s":([^,]*),"busy_s":([^,}]*).*/\1 \2/p' "$1/stream.jsonl" |
        awk '{ share = $1 >= 0.1 ? $2 / $1 : 0 } END { printf "%.6f", share }'
}

# find_restless: reads shares and functions; prints the largest share and its function if it is too far from the smallest, or if all
# but the smallest are too large together.
find_restless() {
    sort -g | awk -v apart="$rest_apart" -v most="$rest" '
        NF == 2 && seen++ { sum += $1 }
        NF == 2 && seen == 1 { least = $1 }
        NF == 2 { share = $1; worst = $2 }
        END { if (seen && (share - least > apart || sum > most)) print share, worst }'
}

# note_restless FUNCTION SHARE BLOCK: notes a launch that used too much CPU time while it slept. After two such blocks, or a large
# share in one, it is launched alone.
note_restless() {
    echo "$3" >>"$job/restless/$1"
    if awk -v share="$2" -v large="$rest_large" 'BEGIN { exit !(share > large) }' ||
        [ "$(sort -u "$job/restless/$1" | wc -l)" -ge 2 ]; then
        touch "$job/alone/$1"
    fi
}

# make_turn NAME FUNCTION CASES [alone or GROUP]: makes one turn, in several launches if they crash. Finished work is skipped.
make_turn() {
    local turn=$job/launches/$1 function=$2 cases=$job/cases/$3 try out together=1
    is_open "$1" "$2" || return 0
    mkdir -p "$turn"
    for try in 1 2 3 4 5; do
        ! is_given_up "$function" || break
        out=$turn/$try
        if [ ! -e "$out/ending" ]; then
            require_time
            mkdir -p "$out"
            list_pending "$try" "$cases" "$function" >"$out/job.txt"
            grep -q '^case ' "$out/job.txt" || break
            say "$1, launch $try"
            [ "${4:-}" = alone ] || [ ! -s "$job/alone/$function" ] || cp "$job/alone/$function" "$out/alone"
            run "$function" "$out" --job "$out/job.txt" --quiet
            if is_complete "$out" "$function"; then
                open_launch=""
                break
            fi
            end_if_nodes_are_lost "$out"
            find_fatal_case "$out" "$function" >>"$job/dead/$function"
            open_launch=""
        fi
        [ -s "$out/lost" ] && continue
        ! is_complete "$out" "$function" && [ "$(count_begun "$out")" != 0 ] || break
    done
    touch "$turn/done"
}

# compare_sums: launches the comparison of the bits of sums for each function of `sums`, a few times, behind the timed launches.
compare_sums() {
    local function out number
    for function in $sums; do
        [ -e "$job/checks/$function/passed" ] || continue
        for number in 1 2 3; do
            out=$job/sums/$function/$number
            [ ! -e "$out/ending" ] || [ -s "$out/lost" ] || continue
            require_time
            say "sums of $function, launch $number"
            run "$function" "$out" --sums
            open_launch=""
            grep -q '^{"exit_code":0,"hung":false,' "$out/ending" && continue
            end_if_nodes_are_lost "$out"
            say "$function: its sums are not compared; see $out/output.log"
            break
        done
    done
}

# end_job: the exit code of a job whose checks failed says so, to its scheduler and in mail.
end_job() {
    compare_sums
    echo "all launches" >"$job/stopped"
    say "all launches are done"
    exit "$exit_code"
}
