#!/bin/sh
# Waiting for a time is waiting for simulated time: sleeps, time-outs of descriptors, condition variables, semaphores and
# futexes take exactly what they say, threads that spin see what they wait for, and results and reports are the same
# bytes in 20 runs, on a quiet host and on a busy one. Time-outs that stay the host's are as long as they say.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
busy=
trap 'kill $busy 2>/dev/null || :; rm -rf "$dir"' EXIT
build waits -lpthread
bad=0

run() { # NAME ARGUMENTS...
    name=$1
    shift
    timeout 60 "$FANOUT" exec --report "$dir/report.json" -- "$@" >"$dir/$name.out" 2>"$dir/err" ||
        { echo "$name: exit $?"; cat "$dir/$name.out" "$dir/err"; bad=1; }
}

# What each mode prints: what it did, its result, and how many ns of simulated time that took.
same() { # NAME, expected on standard input
    cat >"$dir/right"
    if cmp -s "$dir/right" "$dir/$1.out"; then
        echo "$1: passed"
    else
        echo "$1: FAILED"
        diff "$dir/right" "$dir/$1.out" || :
        bad=1
    fi
}

run sleeps "$dir/waits" sleeps
same sleeps <<'END'
nanosleep 0 250.000
usleep 0 100000.000
sleep 0 100000000000.000
until 0 5000.000
until 0 5000.000
until 0 5000.000
past 0 0.000
wrong 1 0.000
thrd_sleep 0 7000.000
usleep of 0 0 1000.000
interrupted 1 30000.000
rest 0.999970000
END

# Beside a thread that spins, too, in which time few looks of it are wanted.
run beside "$dir/waits" beside
same beside <<'END'
begin 0 0.000
slept 0 2000000000.000
END

# An allocator that asks for the time with its lock taken is asked for nothing then.
${CC:-cc} -std=gnu11 -O1 -fno-builtin -Wall -Wextra -Werror "$TOP_SRCDIR/tests/wire/allocator.c" -o "$dir/allocator" -lpthread
timeout 60 "$FANOUT" exec -- "$dir/allocator" >"$dir/allocator.out" 2>&1 </dev/null || :
sed -i '/^fanout exec: no call of/d' "$dir/allocator.out"
same allocator <<'END'
good
END

# another thread writes after 40 us
run polls "$dir/waits" polls
same polls <<'END'
poll 0 3000000.000
poll written 1 40000.000
poll ready 1 0.000
epoll ready 1 0.000
epoll edge 0 2000000.000
select ready 1 0.000
left 6.500000
select 0 1500000000.000
left 0.000000, set 0
select written 1 40000.000
left 0.000060, set 1
select of none 0 700000.000
ppoll 0 4567.000
poll of none 1 0.000
revents 1
60 cut short 0 2400000.000
END

# another thread signals and posts after 50 us; the last waiter gets a mutex that is held until 5 + 100 us
run conditions "$dir/waits" conditions
same conditions <<'END'
timedwait 1 20000.000
clockwait 1 30000.000
past 1 0.000
signalled 0 50000.000
token 0 0.000
no token 1 1000.000
no token 1 2000.000
posted 0 50000.000
mutex held 1 105000.000
END

run tokens "$dir/waits" tokens # 60 posts, 3 us apart, then 10 us
same tokens <<'END'
tokens 60 190000.000
END

run futexes "$dir/waits" futexes
same futexes <<'END'
until 1 9000.000
so long 1 3000000000.000
woken 0 50000.000
changed 1 0.000
END

run limits "$dir/waits" limits
same limits <<'END'
timedlock 1 right
END

run forks "$dir/waits" forks # 10 + 10 us; 40 + 20 + 40 in the child; 5
same forks <<'END'
parent 0 20000.000
child 7 100000.000
parent 0 5000.000
END

# Programs that use no GPU: 2 s in a shell, between two that measure them.
cat >"$dir/script" <<END
"$dir/waits" futexes
sleep 2
"$dir/waits" futexes
END
run shell sh "$dir/script" # 2 s, and 3.000059 s in each program
us=$(sed -n 's/^ "simulated_us": \([0-9]*\)\..*/\1/p' "$dir/report.json")
if [ "$us" -ge 8000118 ]; then
    echo "shell: passed"
else
    echo "shell: FAILED: $us us"
    bad=1
fi

if python3 -c 'import threading' 2>/dev/null; then
    cat >"$dir/waits.py" <<'END'
import queue, subprocess, threading, time

def took(name, low, call):
    begin = time.monotonic()
    result = call()
    length = time.monotonic() - begin
    print(name, result, "right" if low <= length < low + 9 else length)

def condition():
    c = threading.Condition()
    with c:
        return c.wait(10)

def empty():
    try:
        return queue.Queue().get(timeout=10)
    except queue.Empty:
        return "empty"

def child():
    try:
        return subprocess.run(["sleep", "40"], timeout=10)
    except subprocess.TimeoutExpired:
        return "expired"

def spins():
    done = []
    def count():
        for _ in range(300000):
            pass
        done.append(1)
    threads = [threading.Thread(target=count) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    return len(done)

begin = time.time()
took("sleep", 10, lambda: time.sleep(10))
took("event", 10, lambda: threading.Event().wait(10))
took("condition", 10, condition)
took("queue", 10, empty)
took("child", 10, child)
took("threads", 0, spins)
END
    begin=$(date +%s)
    timeout 100 "$FANOUT" exec -- python3 "$dir/waits.py" >"$dir/python.out" || bad=1
    same python <<'END'
sleep None right
event False right
condition False right
queue empty right
child expired right
threads 4 right
END
    [ $(($(date +%s) - begin)) -lt 45 ] || { echo "python: 50 s of sleeps took as long on the host"; bad=1; }
else
    echo "python: no python3: left out"
fi

# A thread that sleeps for 100 s beside holds nobody; a poller's rounds are its copies' time over its sleep.
run poller "$dir/waits" poller
grep -q "^rounds fit the copies: 1$" "$dir/poller.out" || { echo "poller: FAILED"; cat "$dir/poller.out"; bad=1; }

# The same bytes each time.
repeat() { # NAME RUNS
    for n in $(seq "$2"); do
        run "$1" "$dir/waits" "$1"
        cat "$dir/$1.out" "$dir/report.json" >"$dir/now"
        [ -f "$dir/$1.first" ] || cp "$dir/now" "$dir/$1.first"
        cmp "$dir/$1.first" "$dir/now" || { echo "$1: run $n differs ($3)"; bad=1; return; }
    done
    echo "$1: the same $2 times, $3"
}

for mode in poller spin hand conditions; do
    repeat $mode 20 quiet
done
timeout 120 yes >/dev/null & busy=$!
timeout 120 yes >/dev/null & busy="$busy $!"
for mode in poller spin hand conditions; do
    repeat $mode 20 busy
done

exit $bad
