# faults.sh PROGRAM STATUS ARGUMENT ...: runs it, with what it says on stdout, and expects this exit status.
ulimit -c 0
program=$1 wanted=$2
shift 2
KMM_JOIN=0 "$program" "$@" 2>&1
status=$?
[ "$status" = "$wanted" ] && exit 0
echo "exit status $status instead of $wanted"
exit 1
