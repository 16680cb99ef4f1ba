"""Times training steps beside a busy process that takes one of two cores.

usage: neighbour.py PRIVREC [SECONDS [ROUNDS [CORES]]]     CORES: the two cores to use, such as 0,1

Everything runs on the two cores alone (taskset). By turns: two workers alone, one worker alone, two workers beside a
process that spins on the second core. A fair share of that core is a half, so that the step should take 4/3 of its time
with two workers; it may take 1.25 times that, and never more than with one worker. The exit status is 1 where a step
takes longer.
"""
import json, os, statistics, subprocess, sys

CASES = (("dipsgnn", "dipsgnn_step_long", "DIPSGNN step, mean length 32"), ("lightgcn", "lightgcn_step_1x", "LightGCN step, graph of Gowalla's size"))
SPIN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


def step(program, bench, only, workers, cores, seconds):
    command = [program, "bench", bench, "--quiet", "--json", "--workers", str(workers), "--time", f"{seconds}s", "--only", only]
    out = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    r = next(x for x in json.loads(out.stdout) if x["name"] == only)
    return r["median_s"], r["min_s"]


def main():
    program, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 3
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    cores = [int(c) for c in sys.argv[4].split(",")] if len(sys.argv) > 4 else sorted(os.sched_getaffinity(0))[:2]
    if len(cores) != 2:
        sys.exit(f"{len(cores)} cores, want two")
    missed = False
    print(f"cores {cores[0]} and {cores[1]}, load {os.getloadavg()[0]:.1f}; medians of {rounds} rounds, ms\n")
    print("| step | two workers | one worker | two beside a busy process | a fair share | over fair, at most 1.25 | over one worker, at most 1 |\n|" + " --- |" * 7)
    for bench, only, what in CASES:
        got = {"two": [], "one": [], "beside": []}
        for _ in range(rounds):
            got["two"].append(step(program, bench, only, 2, cores, seconds)[0])
            got["one"].append(step(program, bench, only, 1, cores, seconds)[0])
            busy = subprocess.Popen([sys.executable, "-c", SPIN, str(cores[1])])
            try:
                got["beside"].append(step(program, bench, only, 2, cores, seconds)[0])
            finally:
                busy.kill()
                busy.wait()
        two, one, beside = (1e3 * statistics.median(got[k]) for k in ("two", "one", "beside"))
        fair = two * 4 / 3
        print(f"| {what} | {two:.2f} | {one:.2f} | {beside:.2f} | {fair:.2f} | {beside / fair:.2f} | {beside / one:.2f} |", flush=True)
        missed |= beside > 1.25 * fair or beside > one
    sys.exit(1 if missed else 0)


main()
