#!/bin/sh
# Compares the accountants with those of dp_accounting 0.6.0, and the normal noise with torch's. The programs take
# turns for ROUNDS rounds. Prints the smallest median and the smallest minimum of each, and how many times faster
# privrec is. PYTHON has dp-accounting installed (python3 -m venv V && V/bin/pip install dp-accounting==0.6.0);
# TORCH_PYTHON names another Python where torch is installed there.
# Usage: scripts/bench/account.sh [SECONDS [ROUNDS]]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-1} rounds=${2:-2}
python=${PYTHON:-python3} torch=${TORCH_PYTHON:-${PYTHON:-python3}}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/privrec" ./cmd/privrec
for round in $(seq "$rounds"); do
	"$python" scripts/bench/account.py "$seconds" >"$tmp/peer.$round.json"
	"$tmp/privrec" bench account --quiet --json --time "${seconds}s" >"$tmp/ours.$round.json"
	if [ "$torch" != "$python" ]; then
		"$torch" scripts/bench/account.py "$seconds" >"$tmp/peer.torch.$round.json" 2>/dev/null
	fi
done
"$python" - "$tmp" <<'PY'
import collections, glob, json, sys
def best(pattern):
    rows = collections.defaultdict(list)
    for path in glob.glob(f"{sys.argv[1]}/{pattern}"):
        for r in json.load(open(path)):
            rows[r["name"]].append((r["median_s"], r["min_s"]))
    return {k: (min(m for m, _ in v), min(l for _, l in v)) for k, v in rows.items()}
ours, peers = best("ours.*.json"), best("peer.*.json")
pairs = [
    ("account_rdp_grid", "rdp_grid"), ("account_rdp_calibrate", "rdp_calibrate"),
    ("account_exact_234k_s1.1", "pld_234k_s1.1"), ("account_exact_234k_s4", "pld_234k_s4"), ("account_checked_234k_s1.1", "pld_234k_s1.1"),
    ("account_pld_2p19", "pld_234k_s1.1"), ("account_analytic", "analytic"), ("noise_normals", "normals"),
]
print(f"{'ours':28} {'median ms':>10} {'min ms':>10}   {'peer':16} {'median ms':>10} {'min ms':>10} {'x median':>9} {'x min':>8}")
for a, b in pairs:
    if a not in ours:
        sys.exit(f"privrec bench account has no case {a}")
    m, l = ours[a]
    if b not in peers:
        print(f"{a:28} {1e3*m:10.4f} {1e3*l:10.4f}   {b:16} {'missing':>10}")
        continue
    pm, pl = peers[b]
    print(f"{a:28} {1e3*m:10.4f} {1e3*l:10.4f}   {b:16} {1e3*pm:10.3f} {1e3*pl:10.3f} {pm/m:9.1f} {pl/l:8.1f}")
PY
