#!/bin/sh
# Compares one training step of LightGCN, RDP-GCF and matrix factorisation, and one product of the graph with a
# table, at Gowalla's sizes, with PyTorch (Debian: python3-torch python3-scipy). The programs take turns for ROUNDS
# rounds. Prints the smallest median, the smallest minimum and the largest memory of each. "installed" is PyTorch as
# its package leaves it. "tuned" has AVX-512 kernels, and the library TCMALLOC and the folder OPENBLAS_OPENMP where
# these are set. The last column is the median divided by that of privrec.
# Usage: scripts/bench/graph.sh [THREADS [SECONDS [ROUNDS]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
. scripts/bench/common.sh
"$python" scripts/bench/graph.py "$tmp/graph.npz" make
peer() { # MODEL FORM ENVIRONMENT
	case $3 in
	installed) "$python" scripts/bench/graph.py "$tmp/graph.npz" "$1" "$2" "$seconds" ;;
	tuned) env ATEN_CPU_CAPABILITY=avx512 LD_PRELOAD="${TCMALLOC:-}" LD_LIBRARY_PATH="${OPENBLAS_OPENMP:-}" \
		GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$python" scripts/bench/graph.py "$tmp/graph.npz" "$1" "$2" "$seconds" ;;
	esac >"$tmp/out.json"
	keep "$1" "torch-$2-$3"
}
ours() { # MODEL CASE BENCHMARK
	"$tmp/privrec" bench "$3" --quiet --json --workers "$threads" --time "${seconds}s" --only "$2" >"$tmp/out.json"
	keep "$1" privrec
}
for _ in $(seq "$rounds"); do
	for model in lightgcn rdpgcf bprmf product; do
		peer "$model" csr installed
		if [ "$model" = product ]; then ours product lightgcn_product_1x lightgcn; else ours "$model" "${model}_step_1x" "$model"; fi
		peer "$model" csr tuned
		if [ "$model" != bprmf ]; then peer "$model" coo installed; fi
	done
done
"$python" - "$tmp/all" <<'PY'
import collections, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    model, name, median, least, rss = line.split()
    rows[model, name].append((float(median), float(least), float(rss)))
best = {k: (min(m for m, _, _ in v), min(l for _, l, _ in v), max(r for _, _, r in v)) for k, v in rows.items()}
print(f"{'model':9} {'program':20} {'median ms':>10} {'min ms':>8} {'RSS MB':>7} {'x min':>7} {'x median':>9}")
for (model, name), (m, l, r) in sorted(best.items()):
    om, ol, _ = best[model, "privrec"]
    print(f"{model:9} {name:20} {1e3*m:10.2f} {1e3*l:8.2f} {r:7.0f} {l/ol:7.2f} {m/om:9.2f}")
PY
