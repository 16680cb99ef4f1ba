"""Compares the dense product of this project with PyTorch's, or numpy's where there is no PyTorch, in one run.

Usage: gemm.py THREADS PROGRAM [SECONDS] [ONLY]

PROGRAM is scripts/bench/gemm, built. The two take turns on each shape, so that
both see the same machine; the minimum and the median of all turns are printed
with the ratio of the rates (above 1: this project is faster). Set
OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to THREADS as well; gemm.sh does.
GEMM_JSON names a file for the ratios.
"""
import json
import math
import os
import subprocess
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

SHAPES = """
sess_fwd NT 100 2810 100      sess_dX NN 100 100 2810      sess_dW TN 2810 100 100
sessL_fwd NT 100 98226 100    sessL_dX NN 100 100 98226    sessL_dW TN 98226 100 100
trf_fwd NT 256 65000 128      trf_dX NN 256 128 65000      trf_dW TN 65000 128 256
trfL_fwd NT 1024 35000 128    trfL_dX NN 1024 128 35000    trfL_dW TN 35000 128 1024
lin_fwd NN 5000 100 150       lin_dX NT 5000 150 100       lin_dW TN 150 100 5000
sm_fwd NN 300 300 100         sm_dX NT 300 100 300         sm_dW TN 100 300 300
gnn1_fwd NT 3200 100 150      gnn1_dX NN 3200 150 100      gnn1_dW TN 100 150 3200
gnn2_fwd NT 3200 300 200      gnn2_dX NN 3200 200 300      gnn2_dW TN 300 200 3200
gnn3_fwd NT 3200 300 100      gnn3_dX NN 3200 100 300      gnn3_dW TN 300 100 3200
gru NN 256 384 128            sq128 NN 128 128 128         tiny64 NN 64 60 60
tiny20 NT 20 20 32            sq1000 NN 1000 1000 1000
""".split()
TURNS = 12
QUIET = 0.1  # seconds for the other side's spinning threads to go to sleep


def theirs(form, m, n, k, seconds):
    """Returns the times of the other side's product, in seconds a call."""
    a = np.random.rand(*((k, m) if form[0] == "T" else (m, k))).astype("float32") - 0.5
    b = np.random.rand(*((n, k) if form[1] == "T" else (k, n))).astype("float32") - 0.5
    c = np.zeros((m, n), "float32")
    a = a.T if form[0] == "T" else a
    b = b.T if form[1] == "T" else b
    if torch:
        a, b, c = map(torch.from_numpy, (a, b, c))
        product = lambda: torch.mm(a, b, out=c)
    else:
        product = lambda: np.matmul(a, b, out=c)
    product()
    start = time.perf_counter()
    product()
    calls = 1 + int(50e-6 / (time.perf_counter() - start))
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for _ in range(calls):
            product()
        times.append((time.perf_counter() - start) / calls)
    times.sort()
    return times[0], times[len(times) // 2]


def main():
    threads, program = int(sys.argv[1]), sys.argv[2]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.05
    only = sys.argv[4].split(",") if len(sys.argv) > 4 else [""]
    ours = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other = f"numpy {np.__version__}"
    if torch:
        torch.set_num_threads(threads)
        other = "torch " + torch.__version__.split("+")[0]
    print(f"{'product':<10} {'form':<4} {'m x n x k':<16} {'ours GFLOP/s':>18} {other:>18} {'ratio min':>10} {'median':>7}")
    logs, medians, worst = [], [], (9, "")
    for i in range(0, len(SHAPES), 5):
        name, form, (m, n, k) = SHAPES[i], SHAPES[i + 1], map(int, SHAPES[i + 2 : i + 5])
        if not any(o in name for o in only):
            continue
        us, them = [], []
        for _ in range(TURNS):
            time.sleep(QUIET)
            them.append(theirs(form, m, n, k, seconds))
            time.sleep(QUIET)
            print(name, form, m, n, k, seconds, file=ours.stdin, flush=True)
            us.append(tuple(map(float, ours.stdout.readline().split())))
        rate = lambda t: 2e-9 * m * n * k / t
        (u, um), (t, tm) = [(min(x[0] for x in s), sorted(x[1] for x in s)[TURNS // 2]) for s in (us, them)]
        logs.append(math.log(t / u))
        medians.append(math.log(tm / um))
        worst = min(worst, (t / u, name))
        print(f"{name:<10} {form:<4} {f'{m}x{n}x{k}':<16} {rate(u):>8.1f} ({rate(um):>6.1f}) {rate(t):>9.1f} ({rate(tm):>6.1f}) {t / u:>9.2f} {tm / um:>7.2f}", flush=True)
    mean = lambda x: math.exp(sum(x) / len(x))
    if os.environ.get("GEMM_JSON"):
        with open(os.environ["GEMM_JSON"], "w") as f:
            json.dump({"peer": other, "products": len(logs), "ratio of minima": mean(logs), "ratio of medians": mean(medians), "least": worst[0], "least of": worst[1]}, f)
    print(f"geometric mean of the ratios {mean(logs):.2f} (of medians {mean(medians):.2f}), lowest {worst[0]:.2f} ({worst[1]}), {threads} threads")


main()
