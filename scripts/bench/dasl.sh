#!/bin/sh
# Compares one training step of DASL over 240,000 items, with exact lazy Adam, with PyTorch and dense Adam (Debian:
# python3-torch). The programs take turns for ROUNDS rounds. Prints the smallest median, the smallest minimum and the
# largest memory of each. "eager" and "script" are PyTorch as its package leaves it, with the recurrence as it is or
# compiled by torch.jit. "tuned" is eager with AVX-512 kernels, and the library TCMALLOC and the folder
# OPENBLAS_OPENMP where these are set. Stops where the losses of one batch differ by more than 1e-4.
# Usage: scripts/bench/dasl.sh [THREADS [SECONDS [ROUNDS]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
. scripts/bench/common.sh
ours() { # CASE
	"$tmp/privrec" bench dasl --quiet --json --workers "$threads" --time "${seconds}s" --only "$1" >"$tmp/out.json"
	keep "privrec-$1"
}
peer() { # PROGRAM FORM
	"$python" scripts/bench/dasl.py "$2" "$seconds" >"$tmp/out.json"
	keep "$1"
}
for _ in $(seq "$rounds"); do
	peer torch-eager eager
	ours dasl_step
	peer torch-script script
	ours dasl_uniform
	(
		export ATEN_CPU_CAPABILITY=avx512 GLIBC_TUNABLES=glibc.malloc.hugetlb=1 LD_LIBRARY_PATH="${OPENBLAS_OPENMP:-}"
		LD_PRELOAD="${TCMALLOC:-}" "$python" scripts/bench/dasl.py eager "$seconds" >"$tmp/out.json"
	)
	keep torch-tuned
	ours dasl_dense
done
"$python" - "$tmp/all" <<'PY'
import collections, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    name, *numbers = line.split()
    rows[name].append(tuple(map(float, numbers)))
losses = [v[-1] for r in rows.values() for v in r]
if max(losses) - min(losses) > 1e-4:
    sys.exit(f"the programs do not agree: losses from {min(losses)} to {max(losses)}")
best = {k: (min(r[0] for r in v), min(r[1] for r in v), max(r[2] for r in v)) for k, v in rows.items()}
om, ol, _ = best["privrec-dasl_step"]
print(f"loss of the fixed batch: {min(losses):.6f} to {max(losses):.6f}")
print(f"{'program':20} {'median ms':>10} {'min ms':>8} {'RSS MB':>7} {'x median':>9} {'x min':>7}")
for name, (m, l, r) in sorted(best.items()):
    print(f"{name:20} {1e3*m:10.2f} {1e3*l:8.2f} {r:7.0f} {m/om:9.2f} {l/ol:7.2f}")
PY
