"""One training step on a graph in PyTorch on the CPU, the peer of `privrec bench lightgcn|rdpgcf|bprmf`.

Gowalla's sizes, d 64, 3 layers, batch 1024, BPR with its penalty, dense Adam over both tables. The graph
has the power law of internal/bench/powerlaw.go. Negatives are drawn without looking at what the user has.
`csr` multiplies by a sparse CSR matrix forward and, because it is symmetric, backward; `coo` leaves
both to torch.sparse.mm. `rdpgcf` adds noise to every row of every layer and divides rows by their norms.

usage: graph.py GRAPH lightgcn|rdpgcf|bprmf|product csr|coo [SECONDS]     threads: NT (default 2)
       graph.py GRAPH make
output: one JSON object, times in seconds
"""
import json, os, resource, sys, time
import numpy as np

U, I, E, d, L, B, sigma = 29858, 40981, 810128, 64, 3, 1024, 2.4
N = U + I
path, model = sys.argv[1], sys.argv[2]

if model == "make":
    import scipy.sparse as sp
    rng = np.random.default_rng(0)
    pu, pi = (np.arange(U) + 20.0) ** -0.55, (np.arange(I) + 30.0) ** -0.75
    pu /= pu.sum(); pi /= pi.sum()
    at_u, at_i = rng.permutation(U), rng.permutation(I)
    keys = np.unique(np.concatenate([np.arange(U, dtype=np.int64) * I + at_i[rng.choice(I, U, p=pi)],
                                     at_u[rng.choice(U, I, p=pu)] * np.int64(I) + np.arange(I)]))
    while len(keys) < E:
        n = int((E - len(keys)) * 1.25) + 100
        more = at_u[rng.choice(U, n, p=pu)].astype(np.int64) * I + at_i[rng.choice(I, n, p=pi)]
        keys = np.unique(np.concatenate([keys, more]))
    keys = rng.permutation(keys)[:E]
    u, i = keys // I, keys % I
    r = sp.coo_matrix((np.ones(E, np.float32), (u, i + U)), shape=(N, N))
    a = (r + r.T).tocsr()
    deg = np.asarray(a.sum(1)).ravel()
    w = sp.diags(np.where(deg > 0, 1 / np.sqrt(np.maximum(deg, 1)), 0))
    a = (w @ a @ w).tocsr().astype(np.float32)
    a.sort_indices()
    np.savez(path, ptr=a.indptr.astype(np.int64), idx=a.indices.astype(np.int64), val=a.data, u=u, i=i)
    sys.exit()

import warnings
import torch, torch.nn.functional as F

warnings.filterwarnings("ignore")
form = sys.argv[3]
secs = float(sys.argv[4]) if len(sys.argv) > 4 else 3.0
threads = int(os.environ.get("NT", "2"))
torch.set_num_threads(threads)
torch.manual_seed(0)
g = np.load(path)
pos_u, pos_i = torch.from_numpy(g["u"]), torch.from_numpy(g["i"])
val = torch.from_numpy(g["val"])
if model == "bprmf":
    prop = None
elif form == "csr":
    A = torch.sparse_csr_tensor(torch.from_numpy(g["ptr"]), torch.from_numpy(g["idx"]), val, size=(N, N))

    class Prop(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return torch.mm(A, x)
        @staticmethod
        def backward(ctx, y): return torch.mm(A, y.contiguous())

    prop = Prop.apply
else:
    rows = np.repeat(np.arange(N), np.diff(g["ptr"]))
    A = torch.sparse_coo_tensor(torch.from_numpy(np.stack([rows, g["idx"]])), val, (N, N)).coalesce()
    prop = lambda x: torch.sparse.mm(A, x)
del g
table = torch.nn.Parameter(torch.randn(N, d) * 0.1)
opt = torch.optim.Adam([table], lr=1e-3, foreach=True)


def encode():
    if model == "bprmf":
        return table
    x = F.normalize(table, dim=1) if model == "rdpgcf" else table
    total = x
    for _ in range(L):
        x = prop(x)
        if model == "rdpgcf":
            x = F.normalize(x + sigma * torch.randn_like(x), dim=1)
        total = total + x
    return total / (L + 1)


def step():
    j = torch.randint(0, E, (B,))
    u, p, n = pos_u[j], pos_i[j] + U, torch.randint(0, I, (B,)) + U
    z = encode()
    zu = z[u]
    loss = F.softplus((zu * z[n]).sum(1) - (zu * z[p]).sum(1)).mean()
    loss = loss + 1e-4 / 2 / B * sum(table[k].pow(2).sum() for k in (u, p, n))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()


def product():
    with torch.no_grad():
        prop(table)


f = product if model == "product" else step
for _ in range(2):
    f()
ts, t0 = [], time.perf_counter()
while len(ts) < 5 or time.perf_counter() - t0 < secs:
    t = time.perf_counter()
    f()
    ts.append(time.perf_counter() - t)
ts.sort()
print(json.dumps({"name": f"{model}_torch_{torch.__version__}_{form}", "shape": f"users={U} items={I} edges={E} dim={d} layers={L} batch={B}",
                  "threads": threads, "median_s": ts[len(ts) // 2], "min_s": ts[0], "gflops": 0,
                  "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
