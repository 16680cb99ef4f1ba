"""Fit and ranking of models that are computed at once, by implicit, LensKit or scipy: the peers of `privrec bench closed`.

usage: closed.py PEER MODEL TRAIN TEST [SECONDS]
    PEER MODEL: implicit als-exact, implicit als-cg, implicit itemknn, lenskit als, lenskit itemknn, lenskit ease,
    scipy rp3beta, scipy ease
    TRAIN, TEST: files with a user and an item, numbers from 0, in each line

The settings are those of internal/bench/closed.go, written as each package has them: the same minimisers, or the same
neighbours and weights. The fit is repeated for SECONDS (default 0: once), the ranking done once: the best 20 items of
every user, without those of TRAIN. Threads: NT (default 2).

output: one JSON object: seconds of the fit and of the ranking, their seconds of all processors, the largest resident
memory in MB, Recall@20 and NDCG@20 over the users of TEST
"""
import json, os, resource, sys, time

THREADS = int(os.environ.get("NT", "2"))
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "LK_NUM_THREADS", "LK_NUM_BACKEND_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(1 if name == "OPENBLAS_NUM_THREADS" and sys.argv[1] == "implicit" else THREADS)  # implicit asks for 1
import numpy as np, scipy.sparse as sp

DEPTH, DIM, ROUNDS, UNOBSERVED, LAMBDA = 20, 64, 16, 0.1, 1.0
NEIGHBOURS, PENALTY, ALPHA, BETA = 100, 80.0, 0.56636, 0.001085


def read(path, shape=None):
    pairs = np.loadtxt(path, dtype=np.int32, usecols=(0, 1), ndmin=2)
    shape = shape or tuple(pairs.max(axis=0) + 1)
    return sp.csr_matrix((np.ones(len(pairs), np.float32), (pairs[:, 0], pairs[:, 1])), shape=shape)


class ALS:
    """implicit: weight c of a pair and penalty r have the minimisers of alpha0 = 1/(c-1) and lambda = r/c, scores times c/(c-1)."""

    def __init__(self, x, cg):
        from implicit.als import AlternatingLeastSquares
        c = 1 + 1 / UNOBSERVED
        self.x, self.cg = x, cg
        self.make = lambda: AlternatingLeastSquares(factors=DIM, regularization=LAMBDA * c, alpha=c, iterations=ROUNDS, use_cg=cg, use_gpu=False,
                                                    num_threads=THREADS, random_state=1)

    def fit(self):
        self.model = self.make()
        self.model.fit(self.x, show_progress=False)

    def rank(self):
        return self.model.recommend(np.arange(self.x.shape[0]), self.x, N=DEPTH, filter_already_liked_items=True)[0]


class Neighbours:
    """implicit: an item is among its own neighbours, and a user's items lend weights to theirs. Ours are those of the item that is scored."""

    def __init__(self, x):
        self.x = x

    def fit(self):
        from implicit.nearest_neighbours import CosineRecommender, NearestNeighboursScorer
        self.model = CosineRecommender(K=NEIGHBOURS + 1, num_threads=THREADS)
        self.model.fit(self.x, show_progress=False)
        self.model.similarity = self.model.similarity.T.tocsr()
        self.model.scorer = NearestNeighboursScorer(self.model.similarity)

    def rank(self):
        return self.model.recommend(np.arange(self.x.shape[0]), self.x, N=DEPTH, filter_already_liked_items=True)[0]


class LensKit:
    def __init__(self, x, model):
        import lenskit.data, pandas as pd
        from lenskit.pipeline import topn_pipeline
        rows = x.tocoo()
        self.data = lenskit.data.from_interactions_df(pd.DataFrame({"user_id": rows.row, "item_id": rows.col}))
        self.x = x
        if model == "als":
            from lenskit.als import ImplicitMFScorer
            c = 1 + 1 / UNOBSERVED
            self.make = lambda: ImplicitMFScorer(embedding_size=DIM, epochs=ROUNDS, weight=c - 1, regularization=LAMBDA * c, user_embeddings="prefer")
        elif model == "itemknn":
            from lenskit.knn import ItemKNNScorer
            self.make = lambda: ItemKNNScorer(max_nbrs=1000000, save_nbrs=NEIGHBOURS, feedback="implicit")
        else:
            from lenskit.knn import EASEScorer
            self.make = lambda: EASEScorer(regularization=PENALTY)
        self.pipeline = lambda: topn_pipeline(self.make(), n=DEPTH)

    def fit(self):
        self.model = self.pipeline()
        self.model.train(self.data)

    def rank(self):
        from lenskit.batch import recommend
        users = [int(u) for u in np.flatnonzero(np.diff(self.x.indptr))]
        best = np.full((self.x.shape[0], DEPTH), -1, np.int64)
        for key, items in recommend(self.model, users, n=DEPTH, n_jobs=THREADS if THREADS > 1 else 1):
            ids = items.ids()
            best[key.user_id, :len(ids)] = ids
        return best


class Linear:
    """scipy: scores are X B, by blocks of users."""

    def __init__(self, x, model):
        self.x, self.model = x, model

    def fit(self):
        x = self.x
        if self.model == "rp3beta":
            with np.errstate(divide="ignore"):
                user = np.asarray(x.sum(axis=1)).ravel() ** -ALPHA
                degree = np.asarray(x.sum(axis=0)).ravel()
                item, popular = degree ** -ALPHA, degree ** -BETA
            user[~np.isfinite(user)] = item[~np.isfinite(item)] = popular[~np.isfinite(popular)] = 0
            left, right = (sp.diags(item) @ x.T).tocsr(), (sp.diags(user) @ x @ sp.diags(popular)).tocsr()
            parts = []
            for lo in range(0, x.shape[1], 500):
                w = (left[lo:lo + 500] @ right).tocsr()
                ptr, idx, val = [0], [], []
                for i in range(w.shape[0]):
                    j, v = w.indices[w.indptr[i]:w.indptr[i + 1]], w.data[w.indptr[i]:w.indptr[i + 1]]
                    j, v = j[j != lo + i], v[j != lo + i]
                    if len(v) > NEIGHBOURS:
                        keep = np.argpartition(-v, NEIGHBOURS)[:NEIGHBOURS]
                        j, v = j[keep], v[keep]
                    idx.append(j), val.append(v / v.sum() if len(v) else v), ptr.append(ptr[-1] + len(j))
                parts.append(sp.csr_matrix((np.concatenate(val), np.concatenate(idx), ptr), shape=w.shape))
            self.b = sp.vstack(parts).tocsr()
            return
        from scipy.linalg import lapack
        g = np.asfortranarray((x.T @ x).toarray())
        g[np.diag_indices_from(g)] += PENALTY
        c, info = lapack.spotrf(g, lower=1, overwrite_a=1)
        assert info == 0
        p, info = lapack.spotri(c, lower=1, overwrite_c=1)
        assert info == 0
        p = np.tril(p) + np.tril(p, -1).T
        self.b = np.ascontiguousarray(p / -np.diag(p))
        self.b[np.diag_indices_from(self.b)] = 0

    def rank(self):
        best = []
        for lo in range(0, self.x.shape[0], 1000):
            rows = self.x[lo:lo + 1000]
            s = rows @ self.b
            s = s.toarray() if sp.issparse(s) else s
            s[rows.nonzero()] = -np.inf
            top = np.argpartition(-s, DEPTH, axis=1)[:, :DEPTH]
            best.append(np.take_along_axis(top, np.argsort(-np.take_along_axis(s, top, 1), axis=1), 1))
        return np.concatenate(best)


def scores(best, test):
    """Recall@20 and NDCG@20, means over the users with rows of test."""
    gain = 1 / np.log2(np.arange(DEPTH) + 2)
    recall, ndcg, n = 0.0, 0.0, 0
    for u in range(test.shape[0]):
        want = test.indices[test.indptr[u]:test.indptr[u + 1]]
        if len(want):
            hit = np.isin(best[u], want)
            recall, ndcg, n = recall + hit.sum() / len(want), ndcg + (hit * gain).sum() / gain[:len(want)].sum(), n + 1
    return recall / n, ndcg / n


def main():
    peer, model, train, test = sys.argv[1:5]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 0
    x = read(train)
    held = read(test)
    shape = tuple(max(a, b) for a, b in zip(x.shape, held.shape))
    x.resize(shape), held.resize(shape)
    p = {"implicit": lambda: ALS(x, model == "als-cg") if model.startswith("als") else Neighbours(x), "lenskit": lambda: LensKit(x, model),
         "scipy": lambda: Linear(x, model)}[peer]()

    def cpu():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    fits, begin = [], time.perf_counter()
    while not fits or time.perf_counter() - begin < seconds:
        start, used = time.perf_counter(), cpu()
        p.fit()
        fits.append((time.perf_counter() - start, cpu() - used))
    start, used = time.perf_counter(), cpu()
    best = p.rank()
    rank = (time.perf_counter() - start, cpu() - used)
    recall, ndcg = scores(best, held)
    print(json.dumps({"peer": f"{peer} {model}", "threads": THREADS, "fit_s": min(f[0] for f in fits), "rank_s": rank[0], "fit_cpu_s": min(f[1] for f in fits),
                      "rank_cpu_s": rank[1], "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "recall": recall, "ndcg": ndcg}))


if __name__ == "__main__":  # LensKit starts processes that read this file
    main()
