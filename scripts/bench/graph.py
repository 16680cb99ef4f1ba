"""One training step on a graph in PyTorch on the CPU, the peer of `privrec bench lightgcn|rdpgcf|ngcf|bprmf`.

d 64, 3 layers, batch 1024, BPR with its penalty, dense Adam. `make` writes the graph once, as pairs for both sides:
`power`, Gowalla's sizes with the power law of internal/bench/powerlaw.go; `gowalla`, the training part that LightGCN
publishes; `ml-1m`, every rating of MovieLens 1M. Negatives are drawn without looking at what the user has. `csr`
multiplies by a sparse CSR matrix (MKL where PyTorch has it), forward and, by its transpose, backward; `coo` leaves
both to torch.sparse.mm. `rdpgcf` adds noise to every row of every layer and divides rows by their norms. `ngcf` has
dropout of 0.1 on every layer and none on the graph.

usage: graph.py PAIRS lightgcn|rdpgcf|ngcf|bprmf|product csr|coo [SECONDS]
       graph.py PAIRS make power | gowalla FILE | ml-1m FILE
output: one JSON object, times in seconds; loss of ngcf is that of fixed weights which privrec's shape ends with
"""
import gzip, sys
import numpy as np

path, model = sys.argv[1], sys.argv[2]


def power_law(U=29858, I=40981, E=810128):
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
    return keys // I, keys % I


def opened(name):
    return gzip.open(name, "rt") if name.endswith(".gz") else open(name)


def gowalla(name):
    with opened(name) as f:
        rows = [np.array(line.split(), np.int64) for line in f if line.strip()]
    return np.concatenate([np.full(len(r) - 1, r[0]) for r in rows]), np.concatenate([r[1:] for r in rows])


def movies(name):
    with opened(name) as f:
        next(f)
        pairs = np.array([line.split("\t")[:2] for line in f])
    return tuple(np.unique(pairs[:, k], return_inverse=True)[1].ravel() for k in (0, 1))


if model == "make":
    u, i = {"power": power_law, "gowalla": gowalla, "ml-1m": movies}[sys.argv[3]](*sys.argv[4:])
    with open(path, "w") as f:
        f.writelines(f"{a}\t{b}\n" for a, b in zip(u, i))
    sys.exit()

import torch, torch.nn as nn, torch.nn.functional as F
import peer

form = sys.argv[3]
secs = float(sys.argv[4]) if len(sys.argv) > 4 else 3.0
d, L, B, sigma = 64, 3, 1024, 2.4


class Product(torch.autograd.Function):
    """A x, whose gradient is B y with B the transpose of A."""

    @staticmethod
    def forward(ctx, A, B, x):
        ctx.B = B
        return torch.mm(A, x)

    @staticmethod
    def backward(ctx, y):
        return None, None, torch.mm(ctx.B, y.contiguous())


def sparse(rows, cols, val, N):
    """How to multiply by the N x N matrix with these entries."""
    def csr(r, c, v):
        order = np.lexsort((c, r))
        ptr = np.concatenate([[0], np.cumsum(np.bincount(r, minlength=N))])
        ptr, c = ptr.astype(np.int32), c[order].astype(np.int32)  # 64 bits are converted in every product
        return torch.sparse_csr_tensor(torch.from_numpy(ptr), torch.from_numpy(c), torch.from_numpy(v[order]), size=(N, N))
    if form == "csr":
        A, T = csr(rows, cols, val), csr(cols, rows, val)
        return lambda x: Product.apply(A, T, x)
    A = torch.sparse_coo_tensor(torch.from_numpy(np.stack([rows, cols])), torch.from_numpy(val), (N, N)).coalesce()
    return lambda x: torch.sparse.mm(A, x)


def symmetric(u, i, U, I):
    """D^-1/2 A D^-1/2 of a bipartite graph."""
    rows, cols = np.concatenate([u, i + U]), np.concatenate([i + U, u])
    w = 1 / np.sqrt(np.maximum(np.bincount(rows, minlength=U + I), 1))
    return sparse(rows, cols, (w[rows] * w[cols]).astype(np.float32), U + I)


def averaging(u, i, U, I):
    """A + I with rows that sum to 1."""
    N = U + I
    rows, cols = np.concatenate([u, i + U, np.arange(N)]), np.concatenate([i + U, u, np.arange(N)])
    return sparse(rows, cols, (1 / np.bincount(rows, minlength=N))[rows].astype(np.float32), N)


class Net(nn.Module):
    """Tables and, of ngcf, layers; forward returns the final vectors of all nodes, users first."""

    def __init__(self, u, i, U, I, d, layers):
        super().__init__()
        self.user, self.item = (nn.Parameter(torch.randn(n, d) * 0.1) for n in (U, I))
        self.layers = layers
        if model == "ngcf":
            self.steps = nn.ModuleList([nn.ModuleList([nn.Linear(d, d), nn.Linear(d, d)]) for _ in range(layers)])
            self.mul = averaging(u, i, U, I)
        elif model != "bprmf":
            self.mul = symmetric(u, i, U, I)

    def forward(self, drop=0.1):
        x = torch.cat([self.user, self.item])
        if model == "bprmf":
            return x
        if model == "ngcf":
            all = [x]
            for one, two in self.steps:
                s = self.mul(x)
                x = F.dropout(F.leaky_relu(one(s) + two(x * s), 0.2), drop)
                all.append(F.normalize(x, dim=1))
            return torch.cat(all, 1)
        if model == "rdpgcf":
            x = F.normalize(x, dim=1)
        total = x
        for _ in range(self.layers):
            x = self.mul(x)
            if model == "rdpgcf":
                x = F.normalize(x + sigma * torch.randn_like(x), dim=1)
            total = total + x
        return total / (self.layers + 1)


def loss_of(net, u, p, n, U, drop=0.1):
    z = net(drop)
    zu, zp, zn = z[u], z[p + U], z[n + U]
    loss = F.softplus((zu * zn).sum(1) - (zu * zp).sum(1)).mean()
    if model == "ngcf":
        penalised = zu, zp, zn
    else:
        penalised = net.user[u], net.item[p], net.item[n]
    return loss, 1e-4 / 2 / len(u) * sum(x.pow(2).sum() for x in penalised)


def check():
    """The loss of fixedTriples on fixedGraph of internal/bench/fixed.go."""
    u, i = np.array([(u, (7 * u + 3 * j) % 40) for u in range(30) for j in range(5 + u % 5)]).T
    net, k = Net(u, i, 30, 40, 8, 2), torch.arange(8)
    peer.fill(net.parameters(), 2.4)
    with torch.no_grad():
        return loss_of(net, 3 * k, 21 * k % 40, (21 * k + 39) % 40, 30, 0.0)[0].item()


pairs = np.fromfile(path, np.int64, sep=" ").reshape(-1, 2)
u, i = pairs[:, 0].copy(), pairs[:, 1].copy()
U, I, E = int(u.max()) + 1, int(i.max()) + 1, len(u)
shape = f"users={U} items={I} edges={E} dim={d} layers={L} batch={B}"
if model == "ngcf":
    shape += f" loss={check():.6f}"
net = Net(u, i, U, I, d, L)
if model == "product":
    def step():
        with torch.no_grad():
            net.mul(table)
    table = torch.cat([net.user, net.item]).detach()
else:
    pos_u, pos_i = torch.from_numpy(u), torch.from_numpy(i)
    opt = peer.adam(net.parameters(), lr=1e-3)
    forward = peer.compiled(lambda u, p, n: sum(loss_of(net, u, p, n, U)))

    def step():
        j = torch.randint(0, E, (B,))
        opt.zero_grad(set_to_none=True)
        forward(pos_u[j], pos_i[j], torch.randint(0, I, (B,))).backward()
        opt.step()

peer.measure(step, f"{model}_{form}", shape, secs, warm=2)
