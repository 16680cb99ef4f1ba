"""One training step of DASL in PyTorch on the CPU, the peer of `privrec bench dasl`.

The network of PriCDSR's paper: 10,929 users, 120,000 items in each of two domains, d 128 (64 of the item,
64 of the user), windows of 10, batch 128; two gated recurrent units in TensorFlow 1's form (the reset gate
acts before the product), attention over both, inner product, dropout 0.5, one negative. Products of the
input are taken once for all steps, those of the user once for a window. Adam is dense over every table that
a step reads, as the released program's is. Users and items by the power laws of internal/bench/powerlaw.go.

usage: dasl.py eager|script [SECONDS]
output: one JSON object, times in seconds; loss is that of the batch which privrec's shape ends with
"""
import sys
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
import peer

form, secs = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
rng = np.random.default_rng(0)
U, I, d, w, B = 10929, 120000, 128, 10, 128
half, a = d // 2, 2 * w


def recur(x, v, state, steps: int):
    """States after each of the steps, from pre-activations x (w, B, 3d) of the items and v (B, 3d) of the user."""
    d = state.shape[1]
    gates, cand = state[:2 * d].t(), state[2 * d:].t()
    s = torch.zeros(v.shape[0], d)
    out = []
    for k in range(steps):
        p = x[k] + v
        rz = torch.sigmoid(p[:, :2 * d] + s @ gates)
        r, z = rz[:, :d], rz[:, d:]
        c = torch.tanh(p[:, 2 * d:] + (r * s) @ cand)
        s = c + z * (s - c)
        out.append(s)
    return torch.stack(out)


if form == "script":
    recur = torch.jit.script(recur)


class Side(nn.Module):
    """One domain, parameters in privrec's order."""

    def __init__(s):
        super().__init__()
        t = lambda *n: nn.Parameter(torch.empty(*n).uniform_(-0.1, 0.1))
        s.item, s.user = t(I + 1, half), t(U, half)
        s.item_bias, s.user_bias = t(I + 1, 1), t(U, 1)
        s.gru_item, s.gru_user, s.gru_state, s.gru_bias = t(3 * d, half), t(3 * d, half), t(3 * d, d), t(1, 3 * d)
        s.att, s.att_bias, s.att_v = t(a, d), t(1, a), t(1, a)

    def read(s, items, user):
        return recur(items @ s.gru_item.t(), user @ s.gru_user.t() + s.gru_bias, s.gru_state, w)


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.own, s.other = Side(), Side()

    def forward(s, user, own, cross, pos, neg, dropout):
        o = s.own
        u = F.embedding(user, o.user)
        rows = torch.cat([o.read(F.embedding(own, o.item), u), s.other.read(F.embedding(cross, s.other.item), u)])  # 2w,B,d
        e = (torch.tanh(rows @ o.att.t() + o.att_bias) @ o.att_v.t()).softmax(0)
        p = F.dropout((e * rows).sum(0), dropout)
        bias = F.embedding(user, o.user_bias).squeeze(1)
        score = lambda i: (p * torch.cat([F.embedding(i, o.item), u], 1)).sum(1) + F.embedding(i, o.item_bias).squeeze(1) + bias
        return (F.softplus(-score(pos)) + F.softplus(score(neg))).mean()


net = Net()


def check():
    """The loss of the batch and weights that internal/bench/dasl.go describes."""
    with torch.no_grad():
        back = peer.fill(net.parameters(), 0.4)
        draw = lambda what, n, size: torch.from_numpy((7919 * np.arange(size) + 104729 * what) % n)
        loss = net(draw(0, U, B), 1 + draw(1, I, B * w).view(w, B), 1 + draw(2, I, B * w).view(w, B), 1 + draw(3, I, B),
                   1 + draw(4, I, B), 0.0).item()
        back()
    return loss


loss = check()
law = lambda n, shift, power: np.cumsum((np.arange(n) + shift) ** -power)
users, items = law(U, 20.0, 0.55), law(I, 30.0, 0.75)
orders = rng.permutation(U), rng.permutation(I), rng.permutation(I)


def draw(cumulated, order, size):
    return torch.from_numpy(order[np.searchsorted(cumulated, rng.random(size) * cumulated[-1]).clip(max=len(order) - 1)])


batches = [(draw(users, orders[0], B), 1 + draw(items, orders[1], (w, B)), 1 + draw(items, orders[2], (w, B)),
            1 + draw(items, orders[1], B), torch.from_numpy(rng.integers(1, I + 1, B))) for _ in range(64)]
opt = peer.adam(net.parameters(), lr=1e-3)
forward = peer.compiled(net)
k = 0


def step():
    global k
    k = (k + 1) % len(batches)
    opt.zero_grad(set_to_none=True)
    forward(*batches[k], 0.5).backward()
    opt.step()


peer.measure(step, f"dasl_{form}", f"users={U} items={I}+{I} dim={d} window={w} batch={B} loss={loss:.6f}", secs, warm=3)
