"""Fit and ranking of EASE on the CPU, the peer of `privrec bench ease`: with PyTorch, or with numpy and scipy where it is not there.

The catalogue of Netflix and 209 rows for each of 100,000 users, with the power law of internal/bench/powerlaw.go.
The fit is Steck's: X'X by scipy, its inverse in float32 by LAPACK's Cholesky, B. The ranking is X B by blocks of
users, sparse by dense, without what users have, and the best 20 items in order.

usage: ease.py [USERS [ITEMS [EDGES]]]     threads: NT, OMP_NUM_THREADS, OPENBLAS_NUM_THREADS
output: one JSON object, times in seconds, the largest resident memory in MB
"""
import json, os, resource, sys, time
import numpy as np, scipy.sparse as sp
from scipy.linalg import lapack

try:
    import torch
except ImportError:
    torch = None

U, I, E = (int(v) for v in (sys.argv[1:4] + ["100000", "17770", "20900000"][len(sys.argv) - 1:]))
rng = np.random.default_rng(0)
pu, pi = (np.arange(U) + 20.0) ** -0.55, (np.arange(I) + 30.0) ** -0.75
pu /= pu.sum(); pi /= pi.sum()
keys = np.empty(0, np.int64)
while len(keys) < E:
    n = int((E - len(keys)) * 1.25) + 100
    more = rng.choice(U, n, p=pu).astype(np.int64) * I + rng.choice(I, n, p=pi)
    keys = np.unique(np.concatenate([keys, more]))
keys = rng.permutation(keys)[:E]
x = sp.csr_matrix((np.ones(E, np.float32), (keys // I, (keys % I).astype(np.int32))), shape=(U, I))
del keys

start = time.perf_counter()
g = np.asfortranarray((x.T @ x).toarray())
g[np.diag_indices(I)] += 1000
if torch:
    torch.set_num_threads(int(os.environ.get("NT", "2")))
    p = torch.cholesky_inverse(torch.linalg.cholesky(torch.from_numpy(g)))
    b = p / -p.diagonal()
    b.fill_diagonal_(0)
    c = None
else:
    c, info = lapack.spotrf(g, lower=1, overwrite_a=1)
    assert info == 0
    p, info = lapack.spotri(c, lower=1, overwrite_c=1)
    assert info == 0
    p = np.tril(p) + np.tril(p, -1).T
    b = np.ascontiguousarray(p / -np.diag(p))
    b[np.diag_indices(I)] = 0
fit = time.perf_counter() - start
del p, g, c

start = time.perf_counter()
for lo in range(0, U, 1000):
    rows = x[lo:lo + 1000]
    if torch:
        r = torch.sparse_csr_tensor(torch.from_numpy(rows.indptr), torch.from_numpy(rows.indices), torch.from_numpy(rows.data), size=rows.shape)
        s = torch.mm(r, b)
        s[tuple(map(torch.from_numpy, rows.nonzero()))] = -torch.inf
        best = s.topk(20).indices
        continue
    s = rows @ b
    s[rows.nonzero()] = -np.inf
    best = np.argpartition(-s, 20, axis=1)[:, :20]
    order = np.argsort(-np.take_along_axis(s, best, 1), axis=1)
    best = np.take_along_axis(best, order, 1)
rank = time.perf_counter() - start
print(json.dumps({"peer": f"torch {torch.__version__}" if torch else f"numpy {np.__version__}", "fit_s": fit, "rank_s": rank, "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
