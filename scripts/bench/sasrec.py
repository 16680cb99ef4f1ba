"""One training step of SASRec in PyTorch on the CPU, the peer of `privrec bench sasrec`.

ML-1M's 3,416 items, d 64, two blocks with one head, the latest 50 items of sequences of 21 to 96, batch 128,
dropout 0.2. As in the authors' program the residual carries the normalised rows, queries come from these, keys
and values from the rows before. Sequences are padded at their end, so that attention needs its causal mask only.
`all` is softmax over all items, `sampled` is one negative a place. Dense Adam with a second beta of 0.98.

usage: sasrec.py all|sampled [SECONDS]
output: one JSON object, times in seconds; loss is that of the batch which privrec's shape ends with
"""
import sys
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
import peer

kind = sys.argv[1]
secs = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
V, d, blocks, n, B, drop = 3416, 64, 2, 50, 128, 0.2


class Block(nn.Module):
    def __init__(s, d):
        super().__init__()
        s.attend = nn.LayerNorm(d, eps=1e-8)
        s.query, s.key, s.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        s.point = nn.LayerNorm(d, eps=1e-8)
        s.up, s.down = nn.Linear(d, d), nn.Linear(d, d)

    def forward(s, x, drop):
        y = s.attend(x)
        q, k, v = (t.unsqueeze(1) for t in (s.query(y), s.key(x), s.value(x)))  # one head
        if hasattr(F, "scaled_dot_product_attention"):
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1)
        else:
            w = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
            a = (w.masked_fill(torch.ones(w.shape[-2:], dtype=torch.bool).triu(1), -torch.inf).softmax(-1) @ v).squeeze(1)
        y = s.point(y + F.dropout(a, drop))
        return y + F.dropout(s.down(F.dropout(F.relu(s.up(y)), drop)), drop)


class Net(nn.Module):
    def __init__(s, V, d, n):
        super().__init__()
        t = lambda *shape: nn.init.xavier_uniform_(nn.Parameter(torch.empty(*shape)))
        s.item, s.position = t(V + 1, d), t(n, d)
        s.blocks = nn.ModuleList([Block(d) for _ in range(blocks)])
        s.final = nn.LayerNorm(d, eps=1e-8)

    def forward(s, items, positions, real, targets, negatives, drop):
        """The mean loss. items, positions (B, T), padded at the end; real are the places of rows in (B T)."""
        x = F.embedding(items, s.item) * s.item.shape[1] ** 0.5 + F.embedding(positions, s.position)
        x = F.dropout(x, drop)
        for b in s.blocks:
            x = b(x, drop)
        h = s.final(x).flatten(0, 1).index_select(0, real)
        if kind == "all":
            return F.cross_entropy(h @ s.item[1:].t(), targets - 1)
        up, down = ((h * F.embedding(i, s.item)).sum(1) for i in (targets, negatives))
        return -(F.logsigmoid(up) + F.logsigmoid(-down)).mean()


def batch(sequences, n):
    """Rows, padded at the end, of sequences whose latest n + 1 items are read or predicted."""
    cut = [q[-(n + 1):] for q in sequences]
    T = max(map(len, cut)) - 1
    items, positions = np.zeros((len(cut), T), np.int64), np.zeros((len(cut), T), np.int64)
    real, targets = [], []
    for k, q in enumerate(cut):
        m = len(q) - 1
        items[k, :m], positions[k, :m] = q[:-1], np.arange(n - m, n)
        real.append(k * T + np.arange(m))
        targets.append(q[1:])
    return [torch.from_numpy(x) for x in (items, positions, np.concatenate(real), np.concatenate(targets))]


def check():
    """The loss of the sequences and weights that internal/bench/sasrec.go describes."""
    net = Net(40, 8, 10)
    peer.fill(net.parameters(), 0.4)
    b = batch([1 + (7 * q + 3 * np.arange(4 + 2 * q)) % 40 for q in range(6)], 10)
    with torch.no_grad():
        return net(*b, 1 + 11 * torch.arange(len(b[3])) % 40, 0.0).item()


loss = check()
rng = np.random.default_rng(0)
users = [rng.integers(1, V + 1, rng.integers(21, 97)) for _ in range(1024)]
net = Net(V, d, n)
opt = peer.adam(net.parameters(), lr=1e-3, betas=(0.9, 0.98))
forward = peer.compiled(net)


def step():
    b = batch([users[u] for u in rng.integers(0, len(users), B)], n)
    opt.zero_grad(set_to_none=True)
    forward(*b, torch.randint(1, V + 1, b[3].shape), drop).backward()
    opt.step()


peer.measure(step, f"sasrec_{kind}", f"items={V} dim={d} blocks={blocks} heads=1 length={n} batch={B} loss={loss:.6f}", secs)
