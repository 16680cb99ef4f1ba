# What the comparisons of this folder share: read with "." from the repository's root.
# compare GROUPS [THREADS [SECONDS [ROUNDS]]] builds privrec and runs compare.py, which says what the environment names.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
go build -o "$tmp/privrec" ./cmd/privrec
compare() {
	groups=$1 threads=${2:-2} seconds=${3:-3} rounds=${4:-3}
	[ $# -le 4 ] && set -- "" "" "" ""
	shift 4
	"${PYTHON:-python3}" scripts/bench/compare.py "$tmp/privrec" --groups "$groups" --threads "$threads" --seconds "$seconds" --rounds "$rounds" "$@"
}
