"""One DIPSGNN training step in PyTorch on the CPU, the peer of `privrec bench dipsgnn`.

The model is the paper's (arXiv 2309.11515): rescaled states, noisy aggregation in both
directions, one gated step, soft attention, softmax over every item, Adam with coupled L2.
Written the way a careful PyTorch user would: padded batches, batched gathers, no Python loop.
Sessions: lengths min(50, 2 + geometric(0.2)), a quarter of the positions repeated.

usage: dipsgnn.py ITEMS [SECONDS]
output: one JSON object, times in seconds
"""
import sys
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
import peer

V, secs = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
rng = np.random.default_rng(0)
B, d, du, d0, C, sigma = 100, 100, 50, 30, 0.2, 0.2374
D = d + du


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.emb, s.user = nn.Embedding(V + 1, d), nn.Linear(d0, du, bias=False)
        s.w_in, s.w_out = nn.Linear(D, d), nn.Linear(D, d)
        s.ih, s.hh = nn.Linear(2 * d, 3 * d), nn.Linear(d, 3 * d)
        s.w1, s.w2, s.q = nn.Linear(d, d, bias=False), nn.Linear(d, d), nn.Linear(d, 1, bias=False)
        s.w3 = nn.Linear(2 * d + du, d)
        for p in s.parameters():
            p.data.uniform_(-0.1, 0.1)

    def forward(s, nodes, a_in, a_out, alias, mask, feats):
        eu = s.user(feats)                                              # B,du
        n = nodes.shape[1]
        j = torch.cat([s.emb(nodes), eu.unsqueeze(1).expand(-1, n, -1)], 2)
        hb = C * F.normalize(j, dim=2)                                  # B,n,D
        i = torch.bmm(a_in, hb); i = i + sigma * torch.randn_like(i)
        o = torch.bmm(a_out, hb); o = o + sigma * torch.randn_like(o)
        g = hb[:, :, :d]
        gi, gh = s.ih(torch.cat([s.w_in(i), s.w_out(o)], 2)), s.hh(g)
        ir, iz, im = gi.chunk(3, 2); hr, hz, hm = gh.chunk(3, 2)
        r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz); m = torch.tanh(im + r * hm)
        h = g + z * (m - g)
        seq = torch.gather(h, 1, alias.unsqueeze(-1).expand(-1, -1, d))
        last = seq[torch.arange(B), mask.sum(1).long() - 1]
        a = s.q(torch.sigmoid(s.w1(last).unsqueeze(1) + s.w2(seq)))
        zg = (a * seq * mask.unsqueeze(-1)).sum(1)
        return s.w3(torch.cat([zg, last, eu], 1)) @ s.emb.weight[1:].t()


net = Net()
opt = peer.adam(net.parameters(), lr=1e-2, weight_decay=1e-5)
forward = peer.compiled(lambda *x, y: F.cross_entropy(net(*x), y))


def batch():
    lens = np.minimum(50, 2 + rng.geometric(0.2, B)); T = int(lens.max())
    seqs = [rng.integers(1, V + 1, l) for l in lens]
    for q in seqs:
        k = len(q) // 4
        if k:
            q[rng.integers(0, len(q), k)] = q[0]
    un = [np.unique(q) for q in seqs]; n = max(map(len, un))
    nodes, al = np.zeros((B, n), np.int64), np.zeros((B, T), np.int64)
    mk, a = np.zeros((B, T), np.float32), np.zeros((B, n, n), np.float32)
    for b, q in enumerate(seqs):
        p = np.searchsorted(un[b], q)
        nodes[b, :len(un[b])] = un[b]; al[b, :len(q)] = p; mk[b, :len(q)] = 1
        np.add.at(a[b], (p[:-1], p[1:]), 1)
    feats = (rng.random((B, d0)) < 0.1).astype(np.float32)
    return tuple(map(torch.from_numpy, (nodes, np.ascontiguousarray(a.transpose(0, 2, 1)), a, al, mk, feats)))


batches = [batch() for _ in range(8)]
labels = torch.from_numpy(rng.integers(0, V, (8, B)))
k = 0


def step():
    global k
    k = (k + 1) % 8
    loss = forward(*batches[k], y=labels[k])
    opt.zero_grad(set_to_none=True); loss.backward(); opt.step()


peer.measure(step, "dipsgnn_step", f"batch=100 items={V}", secs, warm=3)
