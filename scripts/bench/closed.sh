#!/bin/sh
# Compares fit and ranking of models that are computed at once with implicit 0.7.3, LensKit 2025.8 and scipy: iALS of 64
# factors and 16 rounds, ItemKNN, RP3beta and EASE. DATA is gowalla (the published split) or ml-1m (of each user every
# fifth row is held out). EASE is left out on gowalla, where LensKit inverts a matrix of 40,981 items. The sides take
# turns for ROUNDS rounds; times are the least. It stops where two sides differ by more than 0.001 in Recall@20 or
# NDCG@20, or 0.004 for iALS, which begins at other numbers.
#
#   python3 -m venv V && V/bin/pip install implicit==0.7.3 'lenskit==2025.8.*'
#   PYTHON=V/bin/python PRIVREC_DATA=DATA scripts/bench/closed.sh gowalla
#
# ONLY names cases of ours, such as ials,itemknn, and AGAINST peers, such as implicit,scipy. LensKit ranks user by user
# in Python, which takes minutes, and its ALS on gowalla longer. JSON names a file for the numbers.
# Usage: scripts/bench/closed.sh DATA [THREADS [ROUNDS]]
set -eu
cd "$(dirname "$0")/../.."
data=$1 threads=${2:-2} rounds=${3:-3}
. scripts/bench/common.sh
NT=$threads "${PYTHON:-python3}" - "$tmp" "$data" "$threads" "$rounds" <<'PY'
import gzip, json, os, resource, subprocess, sys

tmp, data, threads, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
root = os.environ["PRIVREC_DATA"]
train, held = f"{tmp}/train.tsv", f"{tmp}/held.tsv"


def lines(path):
    name = next(p for p in (path + ".gz", path) if os.path.exists(p))
    with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as f:
        yield from f


if data == "gowalla":
    for name, out in (("train", train), ("test", held)):
        with open(out, "w") as f:
            for line in lines(f"{root}/gowalla/{name}.txt"):
                user, *items = line.split()
                f.writelines(f"{user}\t{item}\n" for item in items)
elif data == "ml-1m":
    users, items, seen = {}, {}, {}
    with open(train, "w") as f, open(held, "w") as g:
        for k, line in enumerate(lines(f"{root}/ml-1m/ml-1m.inter")):
            if k:
                user, item = line.split("\t")[:2]
                u, i = users.setdefault(user, len(users)), items.setdefault(item, len(items))
                seen[u] = seen.get(u, 0) + 1
                (g if seen[u] % 5 == 0 else f).write(f"{u}\t{i}\n")
else:
    sys.exit(f"data {data}: want gowalla or ml-1m")

# LensKit's ItemKNN keeps the neighbours of a user's items, not of the item that is scored: its lists are others.
differ = {"lenskit itemknn"}
peers = {"ials": [("implicit", "als-exact"), ("implicit", "als-cg"), ("lenskit", "als")], "itemknn": [("implicit", "itemknn"), ("lenskit", "itemknn")],
         "rp3beta": [("scipy", "rp3beta")], "ease": [("lenskit", "ease"), ("scipy", "ease")]}
wanted = [p for p in os.environ.get("AGAINST", "").split(",") if p]
only = [m for m in os.environ.get("ONLY", "").split(",") if m] or [m for m in peers if m != "ease" or data != "gowalla"]


def run(command):
    with subprocess.Popen(command, stdout=subprocess.PIPE) as p:
        out = p.stdout.read()
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}")
    return json.loads(out), used.ru_maxrss / 1024


def ours(model):
    (fit, rank), peak = run([f"{tmp}/privrec", "bench", "closed", "--quiet", "--json", "--workers", threads, "--time", "1ns", "--graph", train,
                             "--held-out", held, "--only", model])
    values = dict(x.split("=") for x in rank["shape"].split())
    return {"fit_s": fit["min_s"], "rank_s": rank["min_s"], "rss_mb": peak, "recall": float(values["recall@20"]), "ndcg": float(values["ndcg@20"])}


def theirs(peer, model):
    r, _ = run([sys.executable, "scripts/bench/closed.py", peer, model, train, held])
    return r


print(f"{'program':20} {'fit s':>8} {'rank s':>8} {'RSS MB':>8} {'Recall@20':>10} {'NDCG@20':>8} {'x fit':>6} {'x rank':>6}")
every = {}
for model in only:
    got = every[model] = {}
    for _ in range(rounds):
        sides = [(f"{p} {m}", lambda p=p, m=m: theirs(p, m)) for p, m in peers[model] if not wanted or p in wanted]
        for name, call in [("privrec " + model, lambda: ours(model))] + sides:
            r, old = call(), got.get(name)
            got[name] = {k: v if old is None else max(v, old[k]) if k == "rss_mb" else min(v, old[k]) for k, v in r.items() if k in
                         ("fit_s", "rank_s", "rss_mb", "recall", "ndcg")}
    first = got["privrec " + model]
    for name, r in got.items():
        print(f"{name:20} {r['fit_s']:8.2f} {r['rank_s']:8.2f} {r['rss_mb']:8.0f} {r['recall']:10.4f} {r['ndcg']:8.4f} {r['fit_s'] / first['fit_s']:6.1f} "
              f"{r['rank_s'] / first['rank_s']:6.1f}", flush=True)
        for k in ("recall", "ndcg"):
            if name not in differ and abs(r[k] - first[k]) > (0.004 if model == "ials" else 0.001):
                sys.exit(f"{name}: {k} is {r[k]}, that of privrec {first[k]}: the sides do not compute the same")
if os.environ.get("JSON"):
    with open(os.environ["JSON"], "w") as f:
        json.dump(every, f, indent=1)
PY
