#!/bin/bash
#FLUX: --job-name=study
#FLUX: --output=/scratch/results/study/job/scheduler.log
#FLUX: --nodes=4
#FLUX: --nslots=8
#FLUX: --exclusive
#FLUX: --time-limit=5400s
#FLUX: --signal=USR1@60s
#FLUX: --queue=bench
#FLUX: --bank=project
#
# Campaign study, by rankbench VERSION: Which library, from node to node?
# Run or submit it again at any time: finished launches are not repeated. Put a # before a launch to skip it.

campaign=/scratch/results/study
[ -t 1 ] || exec >>"$campaign/job/output.log" 2>&1  # readable while the job runs, under every scheduler
time_s=5400  # time limit of the job, or 0; no launch starts that would exceed it
silence_s=60  # a launch without a sign of life for this time is ended
rest=0.003  # share of a CPU for all waiting launches together
rest_apart=0.003  # largest difference between two of them
rest_large=0.03  # share that one launch may use in one block
nodes_wanted=4
mpi_variables='OMPI_|I_MPI_'  # variables that are stored with each launch
job_id=${FLUX_JOB_ID:-$(flux getattr jobid 2>/dev/null)}
time_signals='USR1 ALRM'
remote_shell=ssh
clean_node='for wait in 1 1 1 2 0; do mapped=; for path in /dev/shm/mpich_shm_* /dev/shm/sm_segment.* /dev/shm/vader_segment.* /dev/shm/psm*_shm* /dev/shm/Intel_MPI_*; do [ -O "$path" ] || continue; if grep -qsF " $path" /proc/[0-9]*/maps; then mapped=1; else rm -f "$path"; fi; done; [ -n "$mapped" ] || break; sleep $wait; done'  # what a node runs where ranks were ended
export I_MPI_HYDRA_BOOTSTRAP=ssh
remote_start='exec flux exec --noinput --rank="$(flux overlay lookup "$host")" /bin/sh -c "$*"'  # how job/rsh runs a command on a node
export HYDRA_LAUNCHER=ssh
export HYDRA_LAUNCHER_EXEC="$campaign/job/rsh"
export I_MPI_HYDRA_BOOTSTRAP_EXEC="$campaign/job/rsh"
export OMPI_MCA_plm_rsh_agent="$campaign/job/rsh"
export PRTE_MCA_plm_ssh_agent="$campaign/job/rsh"
module load numactl

# The nodes of this job; whether they can start ranks; how remaining ranks are ended; which nodes are lost.
mapfile -t node < <(flux hostlist --expand --delimiter=$'\n' local)
ready() {
    :
}
end_ranks() {
    :
}
list_lost() {
    local down
    down=$(timeout 20 flux resource status --states=offline --no-header --format={nodelist})
    [ -z "$down" ] || flux hostlist --expand --delimiter=$'\n' "$down"
}
answers() {
    :
}

# --- how each candidate is launched in each placement; $@ is the core with its arguments ------------------------------

declare -A ranks core checked reports

# one on 2x1: 2 ranks
ranks[one_on_2x1]=2
core[one_on_2x1]=/build/one/rankbench-core
reports[one_on_2x1]='SUMMARY=1 LOG=info'
one_on_2x1() {
    env 'SETTING=it'"'"'s $5' '/opt/a b/mpiexec' -hosts "${node[0]},${node[1]}" -n 2 /build/one/rankbench-core "$@"
}

# two on 2x1: 2 ranks
ranks[two_on_2x1]=2
core[two_on_2x1]=/build/two/core
two_on_2x1() {
    cat >"$out/rankfile.txt" <<END
rank 0=${node[0]} slot=0
rank 1=${node[11]} slot=0
END
    /opt/o/mpiexec --rankfile "$out/rankfile.txt" -H "${node[0]}:1,${node[11]}:1" /build/two/core "$@"
}

sums=''  # these compare the bits of sums, too, behind the timed launches

<functions.sh>

# --- the launches, each block in its own order ------------------------------------------------------------------------

begin_job
check one_on_2x1
check two_on_2x1

block 1
launch 001-two_on_2x1 two_on_2x1 001-2x1.txt
launch 001-one_on_2x1 one_on_2x1 001-2x1.txt
end_block

block 2
launch 002-one_on_2x1 one_on_2x1 002-2x1.txt
launch 002-two_on_2x1 two_on_2x1 002-2x1.txt
end_block

end_job
