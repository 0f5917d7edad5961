#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_replay.sh WRITER KMM-REPLAY FOLDER-OF-FAKE-DRIVER: what a log says is what its replay does, and wrong logs are refused.
set -eu
log=$(mktemp)
trap 'rm -f "$log" "$log.out"' EXIT
"$1" "$log"
[ "$(head -1 "$log")" = Thread,Time,Action,Pointer,Size,Stream ]
[ "$(wc -l < "$log")" -eq 8001 ]

for spec in pool/host arena/host pool:16M-64M/statistics/host host thread_arena/host binning:256-64K/pool/host \
    aligned:4K/thread_safe/tracking/host; do
    "$2" --resource=$spec --repeat=2 "$log" > "$log.out"
    grep -q '^calls *8000 of 2 threads on 5 streams$' "$log.out"
    grep -q '^out of memory *0 times here, 0 when logged$' "$log.out"
done
"$2" --serial --resource=pool/host "$log" > "$log.out"
grep -q '^fragmentation *1\.' "$log.out"
"$2" --resource=limiting:64K/pool/host "$log" | grep -q '^fragmentation *not known'
"$2" --serial --resource=limiting:64K/host "$log" | grep -q '^out of memory *[1-9]'
"$2" --resource=fixed_size:64K/host "$log" | grep -q "^resource *fixed_size:64K/host"

# The memory that is best of what there is.
usual() { # resource, environment...
    wanted=$1
    shift
    env LD_LIBRARY_PATH="$driver" "$@" "$replay" "$log" > "$log.out"
    grep -q "^resource *$wanted\$" "$log.out" || { echo "not $wanted:"; cat "$log.out"; exit 1; }
}
replay=$2 driver=$3
usual pool/mapped KMM_FAKE_DEVICES=1
usual pool/device KMM_FAKE_DEVICES=1 KMM_FAKE_FAIL=map:1+
"$2" --help | grep -q 'pool/mapped where device 0 can map'

refuses() { # message, text of a log
    printf "$2" > "$log"
    if "$3" "$log" 2> "$log.out"; then echo "accepted: $2"; exit 1; fi
    grep -q "$1" "$log.out" || { echo "no \"$1\" in:"; cat "$log.out"; exit 1; }
}
head='Thread,Time,Action,Pointer,Size,Stream\n'
refuses ':1: the first line must be' 'a,b\n' "$2"
refuses 'the log is empty' '' "$2"
refuses ':2: a line has six fields' "${head}1,t,allocate,0x1,2\n" "$2"
refuses ':2: thread, pointer, size or stream is no number' "${head}1,t,allocate,0x1,x,0\n" "$2"
refuses ':2: an action is' "${head}1,t,borrow,0x1,2,0\n" "$2"
refuses ':2: thread, pointer, size or stream is no number' "${head}1,t,allocate,0x1,-2,0\n" "$2"
refuses ':2: thread, pointer, size or stream is no number' "${head}one,t,allocate,0x1,2,0\n" "$2"
refuses ':3: more is allocated than' "${head}1,t,allocate,0x1,9223372036854775807,0\n1,t,allocate,0x2,1,0\n" "$2"
refuses ':3: the address is allocated already' "${head}1,t,allocate,0x1,2,0\n1,t,allocate,0x1,2,0\n" "$2"
refuses ':3: the size is not' "${head}1,t,allocate,0x1,2,0\n1,t,free,0x1,3,0\n" "$2"

# Logs that RMM writes: of failures, begun amid the program, and cut off where it was stopped.
accepts() { # line of the report, text of a log
    printf "$2" > "$log"
    "$replay" --resource=pool/host "$log" > "$log.out" 2>&1 || { echo "refused: $2"; cat "$log.out"; exit 1; }
    grep -q "$1" "$log.out" || { echo "no \"$1\" in:"; cat "$log.out"; exit 1; }
}
accepts '^out of memory *0 times here, 1 when logged$' "${head}1,t,allocate failure,(nil),9000,0x1\n"
accepts '^calls *2 ' "${head}1,t,allocate,0x7f00,9000,0\n1,t,allocate,(nil),0,0\n1,t,free,0x7f00,9000,0\n"
accepts '^left out *2 frees' "${head}1,t,free,0x7f00,9000,0\n1,t,free,0x7e00,8,0\n1,t,allocate,0x7f00,9000,0\n"
accepts ':3: the log ends amid a line' "${head}1,t,allocate,0x7f00,9000,0\n1,t,free,0x7f00,90"
accepts ':3: the log ends amid a line' "${head}1,t,allocate,0x7f00,9000,0\n1,t,free,0x7f00,9000,0x"
accepts '^calls *2 ' "${head}1,t,allocate,0x7f00,9000,0\n1,t,free,0x7f00,9000,0"
rm "$log"
if "$2" "$log" 2> "$log.out"; then exit 1; fi
if "$2" --resource=binning:64K-256/host "$log" 2> "$log.out"; then exit 1; fi
if "$2" --resource=pool/paper "$log" 2> "$log.out"; then exit 1; fi
