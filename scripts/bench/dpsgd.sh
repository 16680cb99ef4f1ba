#!/bin/sh
# Compares one step of DP-SGD by BPR on a table of 70,839 x 64, clipped by pair, with Opacus (pip install opacus), and
# each program's step with its own step without privacy. The programs take turns for ROUNDS rounds. Prints the smallest
# median, the smallest minimum and the largest memory of each. Opacus runs as "hooks" (GradSampleModule, once: a step of
# it takes tens of seconds) and as "ghost" (GradSampleModuleFastGradientClipping). Stops where the losses of one batch
# differ by more than 1e-4. "x private" is the median divided by that of privrec's private step with the same optimiser.
# Usage: scripts/bench/dpsgd.sh [THREADS [SECONDS [ROUNDS]]]     PYTHON names the interpreter
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
. scripts/bench/common.sh
for round in $(seq "$rounds"); do
	for opt in adam sgd; do
		for form in private plain; do
			"$tmp/privrec" bench dpsgd --quiet --json --workers "$threads" --time "${seconds}s" --only "${form}_$opt" >"$tmp/out.json"
			keep "$opt" "privrec-$form"
		done
		for form in plain ghost hooks; do
			if [ "$form" = hooks ] && { [ "$round" -gt 1 ] || [ "$opt" = sgd ]; }; then continue; fi
			"$python" scripts/bench/dpsgd.py "$form" "$opt" "$seconds" >"$tmp/out.json"
			keep "$opt" "opacus-$form"
		done
	done
done
"$python" - "$tmp/all" <<'PY'
import collections, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    opt, name, *numbers = line.split()
    rows[opt, name].append(tuple(map(float, numbers)))
losses = [v[-1] for r in rows.values() for v in r]
if max(losses) - min(losses) > 1e-4:
    sys.exit(f"the programs do not agree: losses from {min(losses)} to {max(losses)}")
print(f"loss of the fixed batch: {min(losses):.6f} to {max(losses):.6f}")
best = {k: (min(r[0] for r in v), min(r[1] for r in v), max(r[2] for r in v)) for k, v in rows.items()}
print(f"{'optimiser':9} {'program':16} {'median ms':>10} {'min ms':>9} {'RSS MB':>7} {'x private':>10} {'x min':>8}")
for (opt, name), (m, l, r) in sorted(best.items()):
    om, ol, _ = best[opt, "privrec-private"]
    print(f"{opt:9} {name:16} {1e3*m:10.2f} {1e3*l:9.2f} {r:7.0f} {m/om:10.2f} {l/ol:8.2f}")
PY
