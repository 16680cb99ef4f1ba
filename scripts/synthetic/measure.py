"""Measures what synthetic rows are worth to eight models: each is trained on real rows and on synthetic ones, and both
are measured on the real test rows, for real users with their own training rows.

python measure.py REAL SYNTHETIC.inter|- OUT.json

REAL is a folder of split.py; - trains on its training rows. Each model takes the best of a few settings, by Recall@20
of rows held out of what it is trained on, so synthetic rows choose their own settings. Needs numpy and scipy.
"""

import csv
import json
import math
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

K = 20


def split(folder):
    """Returns the matrices of training and of test rows, and the places of items."""
    with open(f"{folder}/items.txt") as f:
        place = {i: k for k, i in enumerate(f.read().split())}
    users, parts = {}, {}
    for name in ("train", "test"):
        rows, cols = [], []
        with open(f"{folder}/{name}.txt") as f:
            for line in f:
                user, *items = line.split()
                u = users.setdefault(user, len(users))
                rows += [u] * len(items)
                cols += [place[i] for i in items]
        parts[name] = (rows, cols)
    shape = (len(users), len(place))
    return [sp.csr_matrix((np.ones(len(r), np.float32), (r, c)), shape) for r, c in parts.values()] + [place]


def synthetic(path, place):
    users, rows, cols = {}, [], []
    with open(path) as f:
        for row in csv.DictReader(f, delimiter="\t"):
            rows.append(users.setdefault(row["user_id:token"], len(users)))
            cols.append(place[row["item_id:token"]])
    return sp.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), (len(users), len(place)))


def recall(scores, known, test):
    """Returns the mean share of users' test rows among their 20 best items outside the known ones, in percent."""
    scores = np.where(known.toarray() > 0, -np.inf, scores)
    top = np.argpartition(-scores, K, axis=1)[:, :K]
    hits = np.take_along_axis(test.toarray() > 0, top, 1).sum(1)
    size = np.asarray(test.sum(1)).ravel()
    return 100 * float((hits[size > 0] / size[size > 0]).mean())


def best(w, k):
    """Keeps the k largest entries of every row."""
    if k >= w.shape[1]:
        return w
    at = np.argpartition(-w, k, axis=1)[:, :k]
    out = np.zeros_like(w)
    np.put_along_axis(out, at, np.take_along_axis(w, at, 1), 1)
    return out


# Models: y has the rows that a model is trained on, q those of the users who get lists; own says that these are rows
# of y, as the first of them. Settings are those of MovieLens in configs, and some around them.

def by_chance(y, q, own):
    return np.random.default_rng(1).random(q.shape, np.float32)


def popularity(y, q, own):
    return np.tile(np.asarray(y.sum(0)), (q.shape[0], 1))


def itemknn(y, q, own, k):
    g = (y.T @ y).toarray()
    n = np.sqrt(np.maximum(np.diag(g), 1))
    w = g / np.outer(n, n)
    np.fill_diagonal(w, 0)
    return q @ best(w, k).T


def rp3beta(y, q, own, alpha, beta, k=165):
    user = np.maximum(np.asarray(y.sum(1)).ravel(), 1).astype(np.float64)
    item = np.maximum(np.asarray(y.sum(0)).ravel(), 1).astype(np.float64)
    w = (y.T @ sp.diags(user**-alpha) @ y).toarray() * (item**-alpha)[:, None] * (item**-beta)[None, :]
    np.fill_diagonal(w, 0)
    w = best(w, k)
    return q @ (w / np.maximum(w.sum(1, keepdims=True), 1e-300))


def userknn(y, q, own, k, shrink=7.542):
    size = lambda x: np.sqrt(np.asarray(x.sum(1)).ravel())
    sy, sq, out = size(y), size(q), []
    for a in range(0, q.shape[0], 256):
        s = (q[a:a + 256] @ y.T).toarray() / (np.outer(sq[a:a + 256], sy) + shrink)
        if own:
            s[np.arange(len(s)), a + np.arange(len(s))] = 0
        out.append((sp.csr_matrix(best(s, k)) @ y).toarray())
    return np.concatenate(out)


def puresvd(y, q, own, d):
    v = svds(y.astype(np.float64), d, random_state=1)[2]
    return (q @ v.T) @ v


def ials(y, q, own, penalty, d, rounds=6, unobserved=0.3):
    h = np.random.default_rng(1).normal(0, 0.1 / math.sqrt(d), (y.shape[1], d))

    def solve(rows, other):
        n, out = np.asarray(rows.sum(1)).ravel(), []
        squares = (other[:, :, None] * other[:, None, :]).reshape(len(other), -1)
        common = unobserved * other.T @ other
        for a in range(0, rows.shape[0], 2048):
            some = rows[a:a + 2048]
            left = (some @ squares).reshape(-1, d, d) + common
            left += (penalty * (n[a:a + 2048] + unobserved * len(other)))[:, None, None] * np.eye(d)
            out.append(np.linalg.solve(left, (some @ other)[:, :, None])[:, :, 0])
        return np.concatenate(out)

    columns = y.T.tocsr()
    for _ in range(rounds):
        h = solve(columns, solve(y, h))
    return solve(q, h) @ h.T


def ease(y, q, own, penalty):
    g = (y.T @ y).toarray().astype(np.float64)
    p = np.linalg.inv(g + penalty * np.eye(len(g)))
    b = -p / np.diag(p)
    np.fill_diagonal(b, 0)
    return q @ b.astype(np.float32)


MODELS = {
    "random": (by_chance, [{}]),
    "popularity": (popularity, [{}]),
    "ItemKNN": (itemknn, [{"k": 50}, {"k": 100}, {"k": 200}]),
    "RP3beta": (rp3beta, [{"alpha": a, "beta": b} for a, b in ((0.7, 0.8), (1, 0.7), (1.29, 0.687))]),
    "UserKNN": (userknn, [{"k": 50}, {"k": 100}, {"k": 200}]),
    "PureSVD": (puresvd, [{"d": d} for d in (4, 8, 16, 32)]),
    "iALS": (ials, [{"penalty": p, "d": d} for d in (16, 32) for p in (0.003, 0.03)]),
    "EASE": (ease, [{"penalty": p} for p in (100, 400, 1600)]),
}


def main(real, path, out):
    train, test, place = split(real)
    own = path == "-"
    y = train if own else synthetic(path, place)
    has = np.flatnonzero(np.asarray(y.sum(0)).ravel())
    y = y[:, has].tocsr()

    def scores(model, rows, asked, setting, own):
        return np.asarray(model(rows, asked, own, **setting))

    # rows of 1,000 users are held out to choose settings; 6,000 users train
    draw = np.random.default_rng(7)
    users = draw.permutation(y.shape[0])[:7000]
    few, more = y[users[:1000]].tocoo(), y[users[1000:]]
    hide = draw.random(few.nnz) < 0.2
    part = lambda at: sp.csr_matrix((few.data[at], (few.row[at], few.col[at])), few.shape)
    known, hidden = part(~hide), part(hide)
    small = sp.vstack([known, more]).tocsr()
    result = {"users": y.shape[0], "rows": int(y.nnz), "items": len(has), "models": {}}
    for name, (model, grid) in MODELS.items():
        start, tried = time.time(), []
        for setting in grid:
            if len(grid) > 1:
                tried.append(recall(scores(model, small, known, setting, True), known, hidden))
        setting = grid[int(np.argmax(tried))] if tried else grid[0]
        full = np.full(train.shape, -1.0, np.float32)
        full[:, has] = scores(model, y, train[:, has].tocsr(), setting, own)
        result["models"][name] = {"Recall@20": recall(full, train, test), "setting": setting, "tried": tried}
        print(f"{name} {result['models'][name]['Recall@20']:.2f} {setting} {time.time() - start:.0f} s", flush=True)
    if not own:  # the configuration beside the rows
        penalty = max(1, round(y.nnz / len(has)))
        full[:, has] = scores(ease, y, train[:, has].tocsr(), {"penalty": penalty}, own)
        result["EASE of ease.yaml"] = recall(full, train, test)
        print(f"EASE of ease.yaml {result['EASE of ease.yaml']:.2f}", flush=True)
    with open(out, "w") as f:
        json.dump(result, f, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
