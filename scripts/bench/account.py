"""Times other accountants on the cases of `privrec bench account`.

Usage: account.py [SECONDS [CASE]]
       account.py process

Prints a JSON list of {name, shape, median_s, min_s, value}, one for each case whose
program can be imported: dp_accounting (pip install dp-accounting==0.6.0) and, for
the normals, torch. What is missing is named on the standard error. SECONDS is how
long each case is repeated, 1 if not given; every case runs three times at least. CASE is
the name of the only one to run. `process` answers the one question of
`privrec account sampled-gaussian --accountant pld` that cases.py times as a process.
"""
import json
import statistics
import sys
import time

RATE = 256 / 60000
DELTA = 1e-5
SHORT, LONG = 14062, 234000
NORMALS = 1 << 20


def cases():
    """Yields (name, shape, function that returns the answer)."""
    try:
        import dp_accounting as dp
        from dp_accounting import pld, rdp
    except ImportError as missing:
        print(f"account.py: {missing}", file=sys.stderr)
    else:
        def step(sigma):
            return dp.PoissonSampledDpEvent(RATE, dp.GaussianDpEvent(sigma))

        def grid():
            return float(sum(rdp.RdpAccountant().compose(step(1.1))._rdp))

        def calibrate():
            return dp.calibrate_dp_mechanism(
                rdp.RdpAccountant, lambda sigma: dp.SelfComposedDpEvent(step(sigma), SHORT),
                target_epsilon=1.0, target_delta=DELTA)

        def discretised(sigma):
            def run():
                account = pld.PLDAccountant(value_discretization_interval=1e-4)
                return account.compose(step(sigma), LONG).get_epsilon(DELTA)
            return run

        at = f"q=256/60000 T={LONG}"
        yield "rdp_grid", "156 orders, q=256/60000 sigma=1.1", grid
        yield "rdp_calibrate", f"q=256/60000 T={SHORT} epsilon=1", calibrate
        yield "pld_234k_s1.1", f"{at} sigma=1.1 mesh=1e-4", discretised(1.1)
        yield "pld_234k_s4", f"{at} sigma=4 mesh=1e-4", discretised(4)
        yield "analytic", "sigma for epsilon=1 delta=1e-5", lambda: dp.get_sigma_gaussian(1.0, DELTA)
    try:
        import os
        import torch
        torch.set_num_threads(int(os.environ.get("NT", "2")))
    except ImportError as missing:
        print(f"account.py: {missing}", file=sys.stderr)
    else:
        into = torch.empty(NORMALS)
        yield "normals", f"{NORMALS} float32, torch {torch.__version__}", lambda: torch.randn(NORMALS, out=into)[0].item()


def measure(run, seconds):
    """Returns the times of one call each and the last answer."""
    value = run()  # tables and caches that later calls share
    times = []
    start = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        value = run()
        times.append(time.perf_counter() - before)
    return times, value


def main():
    if sys.argv[1:] == ["process"]:
        import dp_accounting as dp
        from dp_accounting import pld
        step = dp.PoissonSampledDpEvent(RATE, dp.GaussianDpEvent(1.1))
        print(pld.PLDAccountant(value_discretization_interval=1e-4).compose(step, SHORT).get_epsilon(DELTA))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    results = []
    for name, shape, run in cases():
        if len(sys.argv) > 2 and name != sys.argv[2]:
            continue
        times, value = measure(run, seconds)
        results.append({"name": name, "shape": shape, "median_s": statistics.median(times), "min_s": min(times), "value": value})
    json.dump(results, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
