"""Prints the table of what run.sh measured in a folder.

python table.py OUT
"""

import glob
import itertools
import json
import os
import statistics
import sys


def tau(x, y):
    """Returns Kendall's tau: the share of pairs in the same order less that of pairs in the other."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    same = [(x[i] - x[j]) * (y[i] - y[j]) for i, j in pairs]
    return sum((s > 0) - (s < 0) for s in same) / len(pairs)


def read(path):
    with open(path) as f:
        return json.load(f)


def spread(values, form="%.1f"):
    mean = form % statistics.mean(values)
    return mean if len(values) < 2 else mean + " ± " + form % statistics.stdev(values)


def main(out):
    sets = sorted({os.path.basename(p)[:-7] for p in glob.glob(f"{out}/ml-*-*-[0-9].json")})
    for name in sorted({s.rsplit("-", 1)[0] for s in sets}):
        seeds = [s.rsplit("-", 1)[1] for s in sets if s.rsplit("-", 1)[0] == name]
        for epsilon in ("4", "8"):
            runs = [s for s in seeds if os.path.exists(f"{out}/{name}-{s}-{epsilon}.json")]
            if not runs:
                continue
            real = [read(f"{out}/{name}-{s}.json")["models"] for s in runs]
            drawn = [read(f"{out}/{name}-{s}-{epsilon}.json") for s in runs]
            private = []
            for s in runs:
                of = read(f"{out}/{name}-{s}-{epsilon}/metrics.json")
                private.append(100 * of["evaluations"][0]["values"]["Recall@20"])
            own = [d["EASE of ease.yaml"] for d in drawn]
            print(f"{name}, epsilon {epsilon}, {len(runs)} seeds")
            print("  DP-EASE", spread(private), " EASE of ease.yaml", spread(own), " share",
                  spread([100 * a / b for a, b in zip(own, private)]))
            models = list(real[0])
            score = lambda of: [[m[k]["Recall@20"] for k in models] for m in of]
            x, y = score(real), score([d["models"] for d in drawn])
            for k, model in enumerate(models):
                print(f"  {model:10} real {spread([v[k] for v in x])}  synthetic {spread([v[k] for v in y])}")
            mean = lambda of: [statistics.mean(v) for v in zip(*of)]
            print("  tau by seed", " ".join("%.2f" % tau(a, b) for a, b in zip(x, y)), " of the means %.2f"
                  % tau(mean(x), mean(y)))


if __name__ == "__main__":
    main(*sys.argv[1:])
