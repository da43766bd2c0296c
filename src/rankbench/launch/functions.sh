# --- how launches are made; nothing below needs to be changed up to the list of launches ------------------------------

job=$campaign/job
longest_s=0
running=""
unended=""
members=()
queued=()

say() { printf '%s  %s\n' "$(date '+%F %T')" "$*"; }

now_ms() { date +%s%3N; }

seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }

stolen_ms() {
    local _ ticks
    read -r _ _ _ _ _ _ _ _ ticks _ </proc/stat
    echo $((${ticks:-0} * 1000 / $(getconf CLK_TCK)))
}

load() {
    local load _
    read -r load _ </proc/loadavg
    echo "$load"
}

# One job at a time works on a campaign. What is launched does not inherit the lock.
begin_job() {
    mkdir -p "$job/checks" "$job/launches" "$job/dead" "$job/nothing" "$job/restless" "$job/alone"
    lock_campaign
    if [ "${#node[@]}" -lt "$nodes_wanted" ]; then
        say "this job has ${#node[@]} of the $nodes_wanted nodes that it needs (${node[*]}): nothing is done"
        exit 1
    fi
    rm -f "$job/stopped"
    heed_signals
    # What ran at the same time when the last job was killed.
    sort_out || end_for_lost_nodes "$job"
    say "job ${job_id:-without number} on ${node[*]}"
    for _ in {1..12}; do
        ! ready >/dev/null 2>&1 </dev/null || break
        sleep 5
    done
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

works_elsewhere() { [ "$host" != "$(hostname)" ] && [ "$id" != "${job_id:-none}" ]; }

# Only one can make a folder. A job that was killed leaves it: stale if its process is gone, or if this is the same job once more.
lock_by_folder() {
    local id="" host="" pid="" folder=$job/lock.d
    if ! mkdir "$folder" 2>/dev/null; then
        read -r id host pid 2>/dev/null <"$folder/owner"
        if works_elsewhere || { [ "$host" = "$(hostname)" ] && kill -0 "$pid" 2>/dev/null; }; then
            say "job ${id:-unknown} on ${host:-unknown} works on $campaign: nothing is done; if it has ended: rm -r $folder"
            return 1
        fi
    fi
    echo "${job_id:--} $(hostname) $$" >"$folder/owner"
    trap 'rm -rf "$job/lock.d"' EXIT
}

# Schedulers report the end of a job's time, or of its nodes being wanted, by one of these.
heed_signals() {
    local signal
    for signal in TERM INT USR1 USR2; do
        # shellcheck disable=SC2064 # the name of now
        trap "interrupted $signal" "$signal"
    done
}

# What was launched last is made again when the script is run again, for it has no ending: but where its end was that of a
# node in mid-case, which is worth a row, whether the signal or the node's end was noticed first. What is local to `run` is known
# here. Launches that run at the same time see to their own launchers, and what they are worth is found out once for all.
interrupted() {
    trap '' TERM INT USR1 USR2
    if [ "$BASHPID" != "$$" ]; then
        [ -z "$running" ] || end_launcher "$running"
        [ -z "$unended" ] || [ -e "$unended/ending" ] || write_ending "${code:-143}" false cut
        exit 143
    fi
    say "ended by SIG$1; run this again to go on"
    echo "signal SIG$1" >"$job/stopped"
    if [ "${#members[@]}" != 0 ]; then
        kill -TERM "${members[@]}" 2>/dev/null
        wait "${members[@]}"
        rm -f "${page%\%}"*
        echo $((($(now_ms) - began_ms) / 1000)) >"$job/cut_s"
        # A signal for a node that is away may wait for it, and then meet the ranks of the job when it runs again.
        ! sort_out || end_ranks
    fi
    [ -z "$running" ] || end_launcher "$running"
    if [ -n "$unended" ]; then
        lost_nodes >"$unended/lost"
        [ -s "$unended/lost" ] || end_ranks
        if [ -s "$unended/lost" ] && [ ! -e "$unended/ending" ] && worth_a_row "$unended" "$function"; then
            write_ending "${code:-143}" false ending
        fi
    fi
    exit 143
}

# worth_a_row FOLDER FUNCTION: whether a launch had begun to measure; of a foreign program nobody knows.
worth_a_row() { foreign "$2" || [ "$(begun "$1")" != 0 ]; }

end_launch() {
    end_launcher "$1"
    end_ranks
}

# end_launcher PID: first the launcher, which can tidy up, half a second later its whole process group. What they leave in /dev/shm
# is removed.
end_launcher() {
    local shared launcher
    shared=$(below "$1" | shared_memory)
    read -r launcher 2>/dev/null <"/proc/$1/task/$1/children"
    # shellcheck disable=SC2086 # its words
    [ -z "$launcher" ] || kill -TERM $launcher 2>/dev/null
    wait_for_group "$1" 5
    kill -TERM -- "-$1" 2>/dev/null
    wait_for_group "$1" 50
    kill -KILL -- "-$1" 2>/dev/null
    remove_shared_memory <<<"$shared"
}

# wait_for_group PID TENTHS: until no process of the group is left, or the time is over.
wait_for_group() {
    local patience=$2
    while [ "$patience" -gt 0 ] && kill -0 -- "-$1" 2>/dev/null; do
        sleep 0.1
        patience=$((patience - 1))
    done
}

# below PID: the processes that descend from it.
below() {
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) .*) [A-Za-z] \([0-9]*\) .*/\1 \2/p' | awk -v top="$1" '
        { parent[$1] = $2 }
        END { for (pid in parent) for (one = parent[pid]; one in parent; one = parent[one]) if (one == top) { print pid; break } }'
}

# shared_memory: inode and path of the files in /dev/shm that processes have mapped, whose numbers are read.
shared_memory() {
    local pid
    while read -r pid; do
        sed -n '/ (deleted)$/d; s|^[^ ]* [^ ]* [^ ]* [^ ]* \([0-9]*\) *\(/dev/shm/.*\)$|\1 \2|p' "/proc/$pid/maps" 2>/dev/null
    done | sort -u
}

# remove_shared_memory: of the files that are read, those of this user that nobody maps any more.
remove_shared_memory() {
    local inode path
    while read -r inode path; do
        [ -O "$path" ] && [ "$(stat -c %i "$path" 2>/dev/null)" = "$inode" ] || continue
        grep -qsF " $path" /proc/[0-9]*/maps || rm -f "$path"
    done
}

# copy_output FOLDER: what a launch prints, into output.log, of which only the beginning and the end are kept: what prints without end
# must not fill the disk. Signals to all processes of the job do not end it before the launch. A full disk must not stop the launch.
copy_output() {
    local log=$1/output.log rest=$1/output.rest chunks=0 last omitted
    trap '' TERM INT USR1 USR2
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

# copy_chunk FILE: so much of what is read as is kept, as soon as it comes.
copy_chunk() { stdbuf -o0 head -c "$output_bytes" 2>/dev/null >"$1" || cat >/dev/null; }

# await_end PID TENTHS: until a process has ended, or the time is over; then it is ended.
await_end() {
    local patience=$2
    while kill -0 "$1" 2>/dev/null; do
        [ "$patience" -gt 0 ] || kill -KILL "$1" 2>/dev/null
        patience=$((patience - 1))
        sleep 0.1
    done
}

# watch_growth PID FOLDER FILE: a launch whose file does not change any more hangs. Who waits for its turn touches it.
watch_growth() {
    local state last="" silent_s=0
    while sleep 1 && kill -0 "$1" 2>/dev/null; do
        state=$(stat -c '%s %y' "$3" "$2"/output.rest.* 2>/dev/null)
        silent_s=$((silent_s + 1))
        [ "$state" = "$last" ] || silent_s=0
        last=$state
        if [ "$silent_s" -ge "$silence_s" ]; then
            touch "$2/hung"
            end_launch "$1"
        fi
    done
}

# foreign FUNCTION: whether it launches a program that is not the core: it has its own arguments, and prints its results.
foreign() { [ -n "${checked[$1]:-}" ]; }

# run FUNCTION FOLDER ARGUMENT...: one launch. As many as `together` says run at the same time.
together=1
output_bytes=1048576 # kept of the beginning of what a launch prints, and of its end
run() {
    local function=$1 out=$2 program=${core[$1]} grows=$2/stream.jsonl began began_ms load stolen watcher code hung=false copying
    shift 2
    rm -f "$out"/ending "$out"/cut "$out"/hung "$out"/lost "$out"/output.rest.* "$out"/output_bytes
    mkdir -p "$out"
    : >"$out/stream.jsonl"
    ! foreign "$function" || grows=$out/output.log
    printf '%s\n' "${node[@]}" >"$out/nodes"
    env | grep -E "^($mpi_variables)" >"$out/environment"
    [ "$together" -gt 1 ] || probe_state "$program" "$out/before.json"
    load=$(load) stolen=$(stolen_ms) began=$(date -u +%FT%T.%3N+00:00) began_ms=$(now_ms)
    : >"$out/output.log"
    exec 8> >(copy_output "$out" 9>&-)
    copying=$!
    set -m
    unended=$out
    "$function" "$@" --stream "$out/stream.jsonl" >&8 2>&1 </dev/null 8>&- 9>&- &
    running=$!
    set +m
    exec 8>&-
    watch_growth "$running" "$out" "$grows" 9>&- &
    watcher=$!
    wait "$running"
    code=$?
    running=""
    # Who found that it hangs has not yet ended all of it.
    if [ -e "$out/hung" ]; then hung=true; else kill "$watcher" 2>/dev/null; fi
    wait "$watcher" 2>/dev/null
    await_end "$copying" 50
    [ "$together" -gt 1 ] || probe_state "$program" "$out/after.json"
    if ! foreign "$function"; then
        if [ "$code" = 4 ] || grep -q 'the stream cannot be written' "$out/output.log"; then disk_is_full; fi
    fi
    write_ending "$code" "$hung" ending
}

# probe_state PROGRAM FILE...: the state of the machine. Launches that run at the same time share one look, since several would disturb
# each other.
probe_state() {
    local program=$1 first=$2 file
    shift 2
    timeout 30 "$program" --state >"$first" 2>/dev/null
    for file in "$@"; do cp "$first" "$file" 2>/dev/null; done
}

# write_ending CODE HUNG NAME: how the launch of `run` ended. A folder that has a file `ending` is complete.
write_ending() {
    local took_ms=$(($(now_ms) - began_ms)) took_s stolen_s
    [ $((took_ms / 1000)) -le "$longest_s" ] || longest_s=$((took_ms / 1000))
    took_s=$(seconds "$took_ms") stolen_s=$(seconds $(($(stolen_ms) - stolen)))
    # A signal to all processes of the job also ends what reads a value, which is then missing.
    printf '{"exit_code":%d,"hung":%s,"duration_s":%s,"started":"%s","load":%s,"stolen_s":%s,"job":"%s","together":%d}\n' \
        "$1" "$2" "${took_s:-0}" "$began" "${load:-0}" "${stolen_s:-0}" "$job_id" "$together" \
        >"$out/$3.part" && mv "$out/$3.part" "$out/$3" || disk_is_full
}

# That is nothing against a candidate: the launch has no ending, so that it is made again.
disk_is_full() {
    say "$out cannot be written: is the disk full, or a quota reached? Fix that and run this again"
    echo "disk" >"$job/stopped"
    exit 1
}

# complete FOLDER FUNCTION: whether a launch came to its end.
complete() {
    if foreign "$2"; then
        grep -q '^{"exit_code":0,"hung":false,' "$1/ending"
    else
        grep -q '^{"record":"end"' "$1/stream.jsonl"
    fi
}

begun() { grep -c '^{"record":"begin"' "$1/stream.jsonl"; }

# check FUNCTION: whether its ranks find each other and their data. It is not launched before they do. Its library reports what it
# uses; what fails so is checked without, since reports hide the reason.
check() {
    local out=$job/checks/$1
    [ ! -e "$out/passed" ] || return 0
    # shellcheck disable=SC2086 # its words
    [ -n "${reports[$1]:-}" ] && try_check "$1" "$out" ${reports[$1]} && return 0
    try_check "$1" "$out" || say "$1: its check failed, so that it is not launched; see $out/output.log"
}

# try_check FUNCTION FOLDER SETTING...: one launch of a check, with these variables set.
try_check() {
    local function=$1 out=$2 setting
    shift 2
    for setting; do local -x "${setting?}"; done
    run "$function" "$out" --check
    unended=""
    complete "$out" "$function" &&
        grep -q "^{\"record\":\"launch\".*\"ranks\":${ranks[$function]}," "$out/stream.jsonl" && touch "$out/passed"
}

# block NUMBER: the launches that follow are one block, in whose end they are made.
block() {
    if [ -e "$job/enough" ]; then
        say "enough: $(cat "$job/enough")"
        exit 0
    fi
    say "block $1"
}

# A launch that could not end within the job's time is not begun.
require_time() {
    [ "$time_s" != 0 ] || return 0
    [ $((time_s - SECONDS)) -le $((longest_s + longest_s / 2 + 30)) ] || return 0
    say "no time left in this job for another launch; submit it again to go on"
    echo "time" >"$job/stopped"
    exit 0
}

# pending TRY CASES FUNCTION: what there is to measure. A case in which two launches died is not tried again: among others the
# launch passes its turn.
pending() {
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
        # Nor is what was begun in any pass.
        grep '^case ' "$before/job.txt" | head -n "$(begun "$before")" >"$before/begun"
        grep '^case ' "$before/job.txt" | grep -vxF -f "$before/begun"
    fi
}

# Those of the job's nodes that do not answer any more.
lost_nodes() (
    for one in "${node[@]}"; do
        { answers "$one" >/dev/null 2>&1 </dev/null || echo "$one"; } &
    done
    wait
)

# A launch that died because a node did is nothing against its candidate; what it had left to do is done by the next job.
end_if_nodes_are_lost() {
    lost_nodes >"$1/lost"
    [ ! -s "$1/lost" ] || end_for_lost_nodes "$1"
}

end_for_lost_nodes() {
    say "no answer from $(paste -sd ' ' "$1/lost"): this job ends; submit it again to go on with other nodes"
    echo "lost $(paste -sd ' ' "$1/lost")" >"$job/stopped"
    exit 1
}

# died_in FOLDER FUNCTION: the case in which a launch died, as its job has it. A foreign program cannot leave out the size in
# which it dies: where it crashes, what comes before is measured in every block; where it hangs, that would take too long.
died_in() {
    if foreign "$2"; then
        [ ! -e "$1/hung" ] || echo "hung"
    elif [ "$(begun "$1")" = 0 ]; then
        echo "no start"
    else
        grep '^case ' "$1/job.txt" | sed -n "$(begun "$1")p"
    fi
}

# launch NAME FUNCTION CASES [alone or GROUP]: a turn of the block, which its end makes.
launch() { queued+=("$1 $2 $3 ${4:-}"); }

# Candidates measure in turn where they have the same cases, and are of one group if there are several. What dies on the way, and
# what must be alone, is launched then.
end_block() {
    local one group
    for group in $(printf '%s\n' "${queued[@]}" | awk '$4 != "alone" && !seen[$3 "/" $4]++ { print $3 "/" $4 }'); do
        make_together "${group%/*}" "${group##*/}"
    done
    for one in "${queued[@]}"; do
        # shellcheck disable=SC2086 # its words
        make_turn $one
    done
    queued=()
}

# is_open NAME FUNCTION: whether a turn is not over, and its candidate passed its check.
is_open() { [ ! -e "$job/launches/$1/done" ] && [ -e "$job/checks/${checked[$2]:-$2}/passed" ]; }

# is_given_up FUNCTION: whether two launches did not start, or a foreign program hung in two.
is_given_up() {
    local deaths
    deaths=$(grep -cx -e "no start" -e "hung" "$job/dead/$1" 2>/dev/null)
    [ "${deaths:-0}" -ge 2 ]
}

# make_together CASES GROUP: the first launches of the turns with these cases, at the same time. Each is a process of its own here, and
# `beside` names them as long as nobody has looked what became of them.
make_together() {
    local one name function cases group out outs those=() page number=0 visited together code full=false cut_s=0
    for one in "${queued[@]}"; do
        read -r name function cases group <<<"$one"
        out=$job/launches/$name/1
        [ "$cases" = "$1" ] && [ "$group" = "$2" ] && [ ! -e "$job/alone/$function" ] || continue
        [ ! -e "$out/ending" ] && is_open "$name" "$function" && ! is_given_up "$function" || continue
        mkdir -p "$out"
        pending 1 "$job/cases/$cases" "$function" >"$out/job.txt"
        grep -q '^case ' "$out/job.txt" || continue
        [ "${#those[@]}" -ge 64 ] || those+=("$name $function")
    done
    together=${#those[@]}
    [ "$together" -gt 1 ] || return 0
    # What did not end in the time of a job before is launched one after the other, so that some of it ends in this one.
    read -r cut_s 2>/dev/null <"$job/cut_s"
    [ "$time_s" = 0 ] || [ $((cut_s + cut_s / 2 + 30)) -lt "$time_s" ] || return 0
    require_time
    say "${those[*]%% *}, launch 1, in turn"
    printf '%s\n' "${those[@]}" >"$job/beside"
    page=/dev/shm/rankbench-turns-$job_id-$$-$RANDOM$RANDOM-%
    visited=$(grep '^case ' "$job/cases/$1" | sort -u | wc -l)
    outs=("${those[@]% *}") outs=("${outs[@]/#/$job/launches/}")
    probe_state "${core[${those[0]#* }]}" "${outs[@]/%//1/before.json}"
    began_ms=$(now_ms)
    for one in "${those[@]}"; do
        printf '%s\n' "${those[@]#* }" >"$job/launches/${one% *}/1/beside"
        member "${one#* }" "$job/launches/${one% *}/1" --turns "$number/$together/$visited:$page" &
        members+=("$!")
        number=$((number + 1))
    done
    for one in "${members[@]}"; do
        wait "$one"
        code=$?
        [ "$code" != 1 ] || full=true
    done
    members=()
    probe_state "${core[${those[0]#* }]}" "${outs[@]/%//1/after.json}"
    rm -f "${page%\%}"* # There is one only where not all launches came.
    ! $full || exit 1    # The member has said so.
    [ $((($(now_ms) - began_ms) / 1000)) -le "$longest_s" ] || longest_s=$((($(now_ms) - began_ms) / 1000))
    sort_out || end_for_lost_nodes "$job"
}

# member FUNCTION FOLDER ARGUMENT...: a launch beside others.
member() {
    local function=$1 out=$2
    shift 2
    members=()
    heed_signals
    run "$function" "$out" --job "$out/job.txt" --quiet "$@"
}

# What became of launches that ran at the same time. One that hung may have taken the others with it, which are made again. One that
# measured nothing beside the others in two blocks, or took too much CPU time while it slept, is alone from now on. Not so if nodes
# were lost.
sort_out() {
    local name function out died=() cut=() shares=() one hung=false block=
    [ -e "$job/beside" ] || return 0
    while read -r name function; do
        out=$job/launches/$name/1 block=${name%%-*} # Turns are named so: 001-LINE.
        if [ -e "$out/cut" ]; then
            cut+=("$function $out")
        elif [ -e "$out/ending" ] && complete "$out" "$function"; then
            shares+=("$(rest_share "$out") $function")
        elif [ -e "$out/ending" ]; then
            died+=("$function $out")
            [ ! -e "$out/hung" ] || hung=true
        fi
    done <"$job/beside"
    one=$(printf '%s\n' "${shares[@]}" | least_restful)
    [ -z "$one" ] || disturbed "${one#* }" "${one%% *}" "$block"
    : >"$job/lost"
    [ "${#died[@]}${#cut[@]}" = 00 ] || lost_nodes >"$job/lost"
    for one in "${cut[@]}"; do
        function=${one%% *} out=${one#* }
        if [ -s "$job/lost" ] && worth_a_row "$out" "$function"; then
            cp "$job/lost" "$out/lost"
            mv "$out/cut" "$out/ending"
        else
            rm -f "$out/cut"
        fi
    done
    for one in "${died[@]}"; do
        function=${one%% *} out=${one#* }
        if [ -s "$job/lost" ]; then
            cp "$job/lost" "$out/lost"
        elif $hung && [ ! -e "$out/hung" ]; then
            rm -rf "$out"
        elif [ "$(begun "$out")" = 0 ]; then
            nothing_beside "$function" "$out"
            rm -rf "$out"
        else
            died_in "$out" "$function" >>"$job/dead/$function"
        fi
    done
    rm -f "$job/beside"
    [ ! -s "$job/lost" ]
}

# nothing_beside FUNCTION FOLDER: a launch measured nothing beside others. If that happens in two blocks, it is launched alone
# from then on.
nothing_beside() {
    local reason code block=${2%/*}
    block=${block##*/} block=${block%%-*} # Turns are named so: 001-LINE.
    if ended_from_outside "$2"; then
        say "$1 was ended from outside; its turn is made again"
        return 0
    fi
    code=$(sed -nE 's/^\{"exit_code":(-?[0-9]+),.*/\1/p' "$2/ending")
    reason="did not start: exit code $code"
    [ ! -e "$2/hung" ] || reason="no sign of life for $silence_s s"
    say "$1 measured nothing beside the others: $reason$(last_words "$2")"
    echo "$block" >>"$job/nothing/$1"
    [ "$(sort -u "$job/nothing/$1" | wc -l)" -ge 2 ] || return 0
    echo "two launches measured nothing beside the others: $reason" >"$job/alone/$1"
    say "$1 is launched alone from now on, because $(cat "$job/alone/$1")"
}

# last_words FOLDER: the last line that a launch printed, if any, since its folder goes.
last_words() { sed -n '/[^[:space:]]/h; ${x; /./s/^/; its last line: /p}' "$1/output.log" 2>/dev/null | cut -c 1-500; }

# ended_from_outside FOLDER: whether SIGHUP, SIGINT, SIGKILL or SIGTERM ended the launcher itself, which then says nothing about ranks.
ended_from_outside() {
    grep -qE '^\{"exit_code":(129|130|137|143),"hung":false,' "$1/ending" &&
        ! grep -qiE 'signal:? [0-9]+|srun: error: [^ ]+: tasks? ' "$1/output.log"
}

# rest_share FOLDER: the CPU time that its processes took while others measured, over what its ranks waited, if that was 0.1 s.
rest_share() {
    sed -nE 's/^\{"record":"end".*"waited_s":([^,]*),"busy_s":([^,}]*).*/\1 \2/p' "$1/stream.jsonl" |
        awk '{ share = $1 >= 0.1 ? $2 / $1 : 0 } END { printf "%.6f", share }'
}

# least_restful: of the shares and functions that are read, the largest and its function, if it is too far from the smallest, or all
# but the smallest are too much together.
least_restful() {
    sort -g | awk -v apart="$rest_apart" -v most="$rest" '
        NF == 2 && seen++ { sum += $1 }
        NF == 2 && seen == 1 { least = $1 }
        NF == 2 { share = $1; worst = $2 }
        END { if (seen && (share - least > apart || sum > most)) print share, worst }'
}

# disturbed FUNCTION SHARE BLOCK: a launch took too much CPU time while it slept. After two such blocks, or a large share in one, it is
# launched alone.
disturbed() {
    echo "$3" >>"$job/restless/$1"
    if awk -v share="$2" -v large="$rest_large" 'BEGIN { exit !(share > large) }' ||
        [ "$(sort -u "$job/restless/$1" | wc -l)" -ge 2 ]; then
        touch "$job/alone/$1"
    fi
}

# make_turn NAME FUNCTION CASES [alone or GROUP]: one turn, in several launches where they die on the way. What is done is skipped.
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
            pending "$try" "$cases" "$function" >"$out/job.txt"
            grep -q '^case ' "$out/job.txt" || break
            say "$1, launch $try"
            [ "${4:-}" = alone ] || [ ! -s "$job/alone/$function" ] || cp "$job/alone/$function" "$out/alone"
            run "$function" "$out" --job "$out/job.txt" --quiet
            if complete "$out" "$function"; then
                unended=""
                break
            fi
            end_if_nodes_are_lost "$out"
            died_in "$out" "$function" >>"$job/dead/$function"
            unended=""
        fi
        [ -s "$out/lost" ] && continue
        ! complete "$out" "$function" && [ "$(begun "$out")" != 0 ] || break
    done
    touch "$turn/done"
}
