#!/bin/sh
# Compares one training step of the exposure attacks with PyTorch (Debian: python3-torch). The programs take turns for
# ROUNDS rounds. Prints the smallest median, the smallest minimum and the largest peak of memory of each. "installed"
# is PyTorch as its package leaves it. "tuned" has AVX-512 kernels and huge pages, and the library TCMALLOC and the
# folder OPENBLAS_OPENMP where these are set. "x" columns divide by the mean of the two runs of privrec before and
# after a peer's: beside other work on the machine only such pairs can be compared.
# Usage: scripts/bench/attack.sh [THREADS [SECONDS [ROUNDS [MODEL...]]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3}
[ $# -le 3 ] && set -- "$threads" "$seconds" "$rounds" mean_gru attention_point attention_transformer
shift 3
. scripts/bench/common.sh
keep() { # MODEL PROGRAM COMMAND...: one line of what it prints as JSON, and the peak of its memory
	"$python" - "$tmp/all" "$@" <<'PY'
import json, resource, subprocess, sys
out, model, program, *command = sys.argv[1:]
r = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
r = r[0] if isinstance(r, list) else r
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(model, program, r["median_s"], r["min_s"], peak, file=open(out, "a"))
PY
}
peer() { # MODEL ENVIRONMENT
	case $2 in
	installed) keep "$1" torch-installed "$python" scripts/bench/attack.py "$1" "$seconds" ;;
	tuned) keep "$1" torch-tuned env ATEN_CPU_CAPABILITY=avx512 LD_PRELOAD="${TCMALLOC:-}" LD_LIBRARY_PATH="${OPENBLAS_OPENMP:-}" \
		GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$python" scripts/bench/attack.py "$1" "$seconds" ;;
	esac
}
ours() { # MODEL
	keep "$1" privrec "$tmp/privrec" bench exposure --quiet --json --workers "$threads" --time "${seconds}s" --only "$1_step"
}
for _ in $(seq "$rounds"); do
	for model in "$@"; do
		ours "$model"
		peer "$model" installed
		ours "$model"
		peer "$model" tuned
		ours "$model"
	done
done
"$python" - "$tmp/all" <<'PY'
import collections, statistics, sys
lines = [(m, p, float(a), float(b), float(c)) for m, p, a, b, c in (line.split() for line in open(sys.argv[1]))]
rows, paired = collections.defaultdict(list), collections.defaultdict(list)
for i, (model, name, *v) in enumerate(lines):
    rows[model, name].append(v)
    if name != "privrec":
        for k in (0, 1):
            paired[model, name, k].append(v[k] / statistics.mean((lines[i - 1][2 + k], lines[i + 1][2 + k])))
print(f"{'model':22} {'program':16} {'median ms':>10} {'min ms':>9} {'peak MB':>8} {'x median':>9} {'x min':>7}")
for (model, name), v in sorted(rows.items()):
    m, l, r = (min(x[0] for x in v), min(x[1] for x in v), max(x[2] for x in v))
    x = [statistics.median(paired[model, name, k]) if name != "privrec" else 1 for k in (0, 1)]
    print(f"{model:22} {name:16} {1e3*m:10.1f} {1e3*l:9.1f} {r:8.0f} {x[0]:9.2f} {x[1]:7.2f}")
PY
