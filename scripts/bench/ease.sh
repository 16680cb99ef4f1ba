#!/bin/sh
# Compares fit and ranking of EASE at the catalogue of Netflix, 17,770 items and 100,000 users of 209 rows, with PyTorch,
# or with numpy and scipy where PYTHON has no PyTorch. The programs run one after the other, once each, since a fit takes
# a minute. Prints seconds, and the largest memory of the whole process, the making of the rows included.
# Usage: scripts/bench/ease.sh [THREADS]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2}
. scripts/bench/common.sh
export NT="$threads" OMP_NUM_THREADS="$threads" MKL_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS="$threads"
python=${PYTHON:-python3}
"$python" scripts/bench/ease.py >"$tmp/peer.json"
"$python" - "$tmp/privrec" "$threads" >"$tmp/ours.json" <<'PY'
import json, resource, subprocess, sys
out = subprocess.run([sys.argv[1], "bench", "ease", "--quiet", "--json", "--workers", sys.argv[2]], check=True, stdout=subprocess.PIPE)
fit, rank = json.loads(out.stdout)
print(json.dumps({"peer": "privrec", "fit_s": fit["min_s"], "rank_s": rank["min_s"], "rss_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}))
PY
"$python" - "$tmp/ours.json" "$tmp/peer.json" <<'PY'
import json, sys
print(f"{'program':20} {'fit s':>8} {'rank s':>8} {'RSS MB':>8}")
for path in sys.argv[1:]:
    r = json.load(open(path))
    print(f"{r['peer']:20} {r['fit_s']:8.1f} {r['rank_s']:8.1f} {r['rss_mb']:8.0f}")
PY
