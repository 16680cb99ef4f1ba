"""One training step of GERAI, and of its network without noise (gcn), in PyTorch on the CPU: the peer of `privrec bench gerai`.

ML-100K's sizes, 44 features of a user, d 60. The graph has the power law of internal/bench/powerlaw.go. W1 and W3 are
split, so that an edge costs no matrix product. Messages are computed once for all nodes, attention for the nodes of the
batch. `index` makes softmax and sums with index_add, `segment` with segment_reduce over sorted edges, `sparse` the sum
with a sparse product. Negatives are drawn without looking at what the user has. Dense Adam.

usage: gerai.py gerai|gcn BATCH index|segment|sparse [SECONDS]
output: one JSON object, times in seconds
"""
import math, sys
import numpy as np
import torch, torch.nn.functional as F
import peer

model, B, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
secs = float(sys.argv[4]) if len(sys.argv) > 4 else 3.0


class Graph:
    """Neighbours of every node, itself first: of node v, near[ptr[v]:ptr[v+1]]. Item i is node U + i."""

    def __init__(self, U, I, u, i):
        self.U, self.I, self.u, self.i = U, I, torch.from_numpy(u), torch.from_numpy(i)
        src = np.concatenate([np.arange(U + I), u, i + U])
        dst = np.concatenate([np.arange(U + I), i + U, u])
        order = np.lexsort((np.concatenate([np.zeros(U + I, int), np.ones(2 * len(u), int)]), src))
        self.near = torch.from_numpy(dst[order])
        self.degree = torch.from_numpy(np.bincount(src, minlength=U + I))
        self.ptr = torch.cat([torch.zeros(1, dtype=torch.long), self.degree.cumsum(0)])


def power_law(U=943, I=1682, E=80000):
    rng = np.random.default_rng(0)
    pu, pi = (np.arange(U) + 20.0) ** -0.55, (np.arange(I) + 30.0) ** -0.75
    pu /= pu.sum(); pi /= pi.sum()
    at_u, at_i = rng.permutation(U), rng.permutation(I)
    keys = np.unique(np.concatenate([np.arange(U) * I + at_i[rng.choice(I, U, p=pi)], at_u[rng.choice(U, I, p=pu)] * I + np.arange(I)]))
    while len(keys) < E:
        n = int((E - len(keys)) * 1.25) + 100
        keys = np.unique(np.concatenate([keys, at_u[rng.choice(U, n, p=pu)] * I + at_i[rng.choice(I, n, p=pi)]]))
    keys = np.sort(rng.permutation(keys)[:E])
    return Graph(U, I, keys // I, keys % I)


class Net(torch.nn.Module):
    def __init__(self, I, features, d):
        super().__init__()
        p = lambda *s: torch.nn.Parameter(torch.randn(*s) * 0.1)
        self.user, self.item = p(features, d), p(I, d)
        self.m = torch.nn.ModuleList([torch.nn.Linear(d, d) for _ in range(3)])
        self.seen, self.own = torch.nn.Linear(d, d, bias=False), torch.nn.Linear(d, d)
        self.weigh = p(1, d)
        self.update = torch.nn.Linear(d, d)
        self.of_user, self.of_item = torch.nn.Linear(d, d, bias=False), torch.nn.Linear(d, d)
        self.h = p(1, d)

    def forward(self, g, x, u, i, j):
        """Returns q_ui - q_uj (B, d)."""
        z = torch.cat([x @ self.user, self.item])
        m = self.m[2](F.relu(self.m[1](F.relu(self.m[0](z)))))
        seen = self.seen(m)
        centres, at = torch.unique(torch.cat([u, i + g.U, j + g.U]), return_inverse=True)
        n, degree = len(centres), g.degree[centres]
        row = torch.repeat_interleave(torch.arange(n), degree)
        end = degree.cumsum(0)
        k = g.near[torch.arange(len(row)) + (g.ptr[centres] - end + degree)[row]]
        own = self.own(z.index_select(0, centres))
        a = torch.sigmoid(seen.index_select(0, k) + own.index_select(0, row)) @ self.weigh.view(-1)
        if form == "segment":
            top = torch.segment_reduce(a.detach(), "max", lengths=degree)
            e = (a - top[row]).exp()
            alpha = e / torch.segment_reduce(e, "sum", lengths=degree)[row]
            total = torch.segment_reduce(alpha[:, None] * m.index_select(0, k), "sum", lengths=degree, axis=0)
        else:
            top = torch.full((n,), -torch.inf).scatter_reduce(0, row, a.detach(), "amax")
            e = (a - top[row]).exp()
            alpha = e / torch.zeros(n).index_add(0, row, e)[row]
            if form == "sparse":
                total = torch.sparse.mm(torch.sparse_coo_tensor(torch.stack([row, k]), alpha, (n, len(z)), is_coalesced=True), m)
            else:
                total = torch.zeros(n, m.shape[1]).index_add(0, row, alpha[:, None] * m.index_select(0, k))
        star = F.relu(self.update(total))
        r = self.of_user(star.index_select(0, at[:len(u)]))
        r1 = F.relu(r + self.of_item(star.index_select(0, at[len(u):2 * len(u)])))
        r2 = F.relu(r + self.of_item(star.index_select(0, at[2 * len(u):])))
        return r1 / (1 + r1) - r2 / (1 + r2)

    def params(self):
        """The parameters in the order of the other program, as it shapes them."""
        linear = lambda *all: [p for l in all for p in l.parameters()]
        return [self.user, self.item, *linear(*self.m, self.seen, self.own), self.weigh, *linear(self.update, self.of_user, self.of_item), self.h]


def polynomial(x): return math.log(2) - x / 2 + x * x / 8
f = (lambda x: F.softplus(-x)) if model == "gcn" else polynomial


def check():
    """The loss of the fixed batch of internal/bench/gerai.go."""
    u, i = np.array([(u, (7 * u + 3 * j) % 40) for u in range(30) for j in range(5 + u % 5)]).T
    net, g = Net(40, 5, 8), Graph(30, 40, u.copy(), i.copy())
    peer.fill(net.params(), 2.4)
    with torch.no_grad():
        k = torch.arange(8)
        q = net(g, peer.fixed((30, 5), 20, 2.4), 3 * k, 21 * k % 40, (21 * k + 39) % 40)
        return f(q @ net.h.view(-1)).mean().item()


g, d = power_law(), 60
net, x, E = Net(g.I, 44, d), torch.rand(g.U, 44) * 2 - 1, len(g.u)
opt = peer.adam(net.parameters(), lr=1e-3, weight_decay=2 * 0.01 / E)
forward = peer.compiled(net)
scale = (d + d * d / 4) / (0.4 * E)
laplace = torch.distributions.Laplace(0.0, scale)


def step():
    k = torch.randint(0, E, (B,))
    q = forward(g, x, g.u[k], g.i[k], torch.randint(0, g.I, (B,)))
    h = net.h.view(-1)
    loss = f(q @ h).mean()
    if model == "gerai":
        loss = loss + laplace.sample((d,)) @ h + h @ laplace.sample((d, d)) @ h
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()


loss = check()
peer.measure(step, f"{model}_{form}", f"users={g.U} items={g.I} edges={E} dim={d} batch={B} loss={loss:.6f}", secs, warm=3)
