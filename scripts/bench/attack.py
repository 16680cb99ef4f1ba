"""One training step of an exposure attack in PyTorch on the CPU, the peer of `privrec bench exposure`.

A slate of 10 random items is encoded, its 5 clicks are decoded: one item matrix for encoder, decoder input
and output layer, items times sqrt(d) in encoder and transformer decoder, dropout 0.1, softmax over all
57,265 tokens, dense Adam. `mean_gru` feeds [last click ; mean of the slate] to a GRU that starts at that
mean; `attention_point` is one post-norm block with a CLS token and the smoothed multi-label loss over a
dense target; `attention_transformer` has a causal block with cross-attention.

usage: attack.py mean_gru|attention_point|attention_transformer [SECONDS]
output: one JSON object, times in seconds
"""
import math, sys
import torch, torch.nn as nn, torch.nn.functional as F
import peer

V, T, L, d, B, eps = 57265, 10, 5, 128, 256, 1e-6
START, END, FIRST = 2, 3, 4
kind = sys.argv[1]
secs = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0


class Attack(nn.Module):
    def __init__(self):
        super().__init__()
        self.item = nn.Embedding(V, d)
        nn.init.xavier_normal_(self.item.weight)
        self.bias = nn.Parameter(torch.zeros(V))
        self.drop = nn.Dropout(0.1)
        if kind == "mean_gru":
            self.gru = nn.GRU(2 * d, d, batch_first=True)
        else:
            block = nn.TransformerEncoderLayer(d, 2, d, 0.1, batch_first=True)
            self.enc = nn.TransformerEncoder(block, 1, nn.LayerNorm(d))
        if kind == "attention_transformer":
            block = nn.TransformerDecoderLayer(d, 2, d, 0.1, batch_first=True)
            self.dec = nn.TransformerDecoder(block, 1, nn.LayerNorm(d))
            at = torch.arange(L + 1).unsqueeze(1) * torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
            self.register_buffer("place", torch.stack([at.sin(), at.cos()], 2).reshape(L + 1, d))
            self.register_buffer("ahead", torch.triu(torch.full((L + 1, L + 1), float("-inf")), 1))

    def forward(self, slates, fed):
        root = math.sqrt(d)
        if kind == "attention_point":
            start = torch.full((B, 1), START)
            h = self.enc(self.item(torch.cat([start, slates], 1)) * root)[:, 0]
        elif kind == "mean_gru":
            c = self.item(slates).mean(1) * root
            x = torch.cat([self.drop(self.item(fed)), c.unsqueeze(1).expand(-1, L + 1, -1)], 2)
            h, _ = self.gru(x, c.unsqueeze(0))
        else:
            m = self.enc(self.item(slates) * root)
            h = self.dec(self.drop(self.item(fed) * root + self.place), m, tgt_mask=self.ahead)
        return F.linear(h.reshape(-1, d), self.item.weight, self.bias)


net = Attack()
net.train()
opt = peer.adam(net.parameters(), lr=1e-3)


def loss_of(slates, fed, clicks):
    z = net(slates, fed)
    if kind == "attention_point":
        return F.cross_entropy(z, torch.full((B, V), eps).scatter_(1, clicks, 1 / L))
    return F.cross_entropy(z, torch.cat([clicks, torch.full((B, 1), END)], 1).reshape(-1))


forward = peer.compiled(loss_of)


def step():
    slates, clicks = torch.randint(FIRST, V, (B, T)), torch.randint(FIRST, V, (B, L))
    loss = forward(slates, torch.cat([torch.full((B, 1), START), clicks], 1), clicks)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()


peer.measure(step, kind, f"vocab={V} slate={T} behaviour={L} dim={d} batch={B}", secs, warm=2)
