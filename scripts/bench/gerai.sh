#!/bin/sh
# Compares one training step of GERAI and of its network without noise (gcn), at ML-100K's sizes, with PyTorch (Debian:
# python3-torch). The programs take turns for ROUNDS rounds. Prints the smallest median, the smallest minimum and the
# largest memory of each. "index", "segment" and "sparse" are three ways to write the attention in PyTorch. Stops where
# the losses of one batch differ by more than 1e-4. The last column is the median divided by that of privrec.
# Usage: scripts/bench/gerai.sh [THREADS [SECONDS [ROUNDS]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
. scripts/bench/common.sh
for _ in $(seq "$rounds"); do
	for model in gerai gcn; do
		for batch in 64 1024; do
			"$tmp/privrec" bench gerai --quiet --json --workers "$threads" --time "${seconds}s" --only "${model}_step_$batch" >"$tmp/out.json"
			keep "$model-$batch" privrec
			for form in index segment sparse; do
				"$python" scripts/bench/gerai.py "$model" "$batch" "$form" "$seconds" >"$tmp/out.json"
				keep "$model-$batch" "torch-$form"
			done
		done
	done
done
"$python" - "$tmp/all" <<'PY'
import collections, sys
rows, losses = collections.defaultdict(list), collections.defaultdict(list)
for line in open(sys.argv[1]):
    case, name, *numbers = line.split()
    rows[case, name].append(tuple(map(float, numbers)))
    losses[case.split("-")[0]].append(float(numbers[-1]))
for model, all in losses.items():
    if max(all) - min(all) > 1e-4:
        sys.exit(f"the programs do not agree on {model}: losses from {min(all)} to {max(all)}")
    print(f"{model}: loss of the fixed batch: {min(all):.6f} to {max(all):.6f}")
best = {k: (min(r[0] for r in v), min(r[1] for r in v), max(r[2] for r in v)) for k, v in rows.items()}
print(f"{'step':11} {'program':14} {'median ms':>10} {'min ms':>8} {'RSS MB':>7} {'x min':>7} {'x median':>9}")
for (case, name), (m, l, r) in sorted(best.items()):
    om, ol, _ = best[case, "privrec"]
    print(f"{case:11} {name:14} {1e3*m:10.2f} {1e3*l:8.2f} {r:7.0f} {l/ol:7.2f} {m/om:9.2f}")
PY
