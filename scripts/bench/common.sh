# What the comparisons of this folder share: read with "." from the repository's root, after the number of threads.
python=${PYTHON:-python3}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
go build -o "$tmp/privrec" ./cmd/privrec
# The environment may tie OpenBLAS to the kernels or caches of another machine.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export NT="$threads" OMP_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS="$threads"
keep() { # NAME...: the result in out.json becomes a line of all, after the names; with the loss where one is given
	"$python" - "$tmp/out.json" "$@" >>"$tmp/all" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
r = r[0] if isinstance(r, list) else r
print(*sys.argv[2:], r["median_s"], r["min_s"], r["rss_mb"], *r["shape"].split("loss=")[1:])
PY
}
