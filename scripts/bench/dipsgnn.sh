#!/bin/sh
# Compares one training step of DIPSGNN with PyTorch (Debian: python3-torch). The programs take turns for ROUNDS
# rounds. Prints the smallest median and the smallest minimum of each. "installed" is PyTorch as its package leaves
# it. "tuned" has AVX-512 kernels, and the library TCMALLOC and the folder OPENBLAS_OPENMP where these are set.
# Usage: scripts/bench/dipsgnn.sh [THREADS [SECONDS [ROUNDS]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
. scripts/bench/common.sh
peer() { # NAME ITEMS: a line "items name median min"
	case $1 in
	installed) "$python" scripts/bench/dipsgnn.py "$2" "$seconds" ;;
	tuned) env ATEN_CPU_CAPABILITY=avx512 OPENBLAS_CORETYPE=SkylakeX LD_PRELOAD="${TCMALLOC:-}" \
		LD_LIBRARY_PATH="${OPENBLAS_OPENMP:-}" GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \
		"$python" scripts/bench/dipsgnn.py "$2" "$seconds" ;;
	esac >"$tmp/out.json"
	"$python" -c 'import json,sys; r=json.load(open(sys.argv[1])); print(sys.argv[2], "torch-"+sys.argv[3], r["median_s"], r["min_s"], r["rss_mb"])' \
		"$tmp/out.json" "$2" "$1" >>"$tmp/all"
}
ours() { # ITEMS CASE
	"$tmp/privrec" bench dipsgnn --quiet --json --workers "$threads" --time "${seconds}s" --only "$2" >"$tmp/out.json"
	"$python" -c 'import json,sys; r=[x for x in json.load(open(sys.argv[1])) if x["name"]==sys.argv[3]][0]; print(sys.argv[2], "privrec", r["median_s"], r["min_s"], r["rss_mb"])' \
		"$tmp/out.json" "$1" "$2" >>"$tmp/all"
}
for _ in $(seq "$rounds"); do
	for items in 2810 98226; do
		if [ "$items" = 2810 ]; then case=dipsgnn_step; else case=dipsgnn_step_large; fi
		peer installed "$items"
		ours "$items" "$case"
		peer tuned "$items"
		ours "$items" "$case"
	done
done
"$python" - "$tmp/all" <<'PY'
import collections, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    items, name, median, least, rss = line.split()
    rows[int(items), name].append((float(median), float(least), float(rss)))
best = {k: (min(m for m, _, _ in v), min(l for _, l, _ in v), max(r for _, _, r in v)) for k, v in rows.items()}
print(f"{'items':>6} {'program':16} {'median ms':>10} {'min ms':>8} {'RSS MB':>7} {'x median':>9} {'x min':>7}")
for (items, name), (m, l, r) in sorted(best.items()):
    om, ol, _ = best[items, "privrec"]
    print(f"{items:6} {name:16} {1e3*m:10.2f} {1e3*l:8.2f} {r:7.0f} {m/om:9.2f} {l/ol:7.2f}")
PY
