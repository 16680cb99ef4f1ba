"""One step of DP-SGD on a Gowalla-size table in Opacus on the CPU (pip install opacus): the peer of `privrec bench dpsgd`.

BPR by inner products on one nn.Embedding (70,839 x 64) of users and items. The gradient of every pair (u, i, j) is
clipped to 1; noise has multiplier 1. `plain` is the same model without privacy. `hooks` is GradSampleModule, which
makes a dense gradient of the table for every pair: a batch goes through in parts of 16 pairs, since 1024 dense gradients
take 18.6 GB. `ghost` is GradSampleModuleFastGradientClipping, which computes lengths only and goes backward twice.
Batches have a fixed size here; drawing a Poisson batch is left out, in the peer's favour.

usage: dpsgd.py plain|hooks|ghost adam|sgd [SECONDS]
output: one JSON object, times in seconds
"""
import sys
import torch, torch.nn.functional as F
import peer

form, optimiser = sys.argv[1], sys.argv[2]
secs = float(sys.argv[3]) if len(sys.argv) > 3 else 3.0
USERS, ITEMS, D, B, PART = 29858, 40981, 64, 1024, 16


class Pairs(torch.nn.Module):
    def __init__(self, rows, d):
        super().__init__()
        self.table = torch.nn.Embedding(rows, d)
        torch.nn.init.normal_(self.table.weight, std=0.1)

    def forward(self, rows):
        """Returns u·(i - j) for rows (B, 3)."""
        e = self.table(rows)
        return (e[:, 0] * (e[:, 1] - e[:, 2])).sum(1)


class Loss(torch.nn.Module):
    def __init__(self, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, x, _):
        loss = F.softplus(-x)
        return loss.mean() if self.reduction == "mean" else loss.sum() if self.reduction == "sum" else loss


def check():
    """The loss of the fixed batch of internal/bench/dpsgd.go."""
    m, k = Pairs(60, 8), torch.arange(8)
    with torch.no_grad():
        m.table.weight.copy_(peer.fixed((60, 8), 0, 2.4))
        return Loss()(m(torch.stack([k, 20 + 3 * k, 40 + 2 * k], 1)), None).item()


def batch():
    return torch.stack([torch.randint(0, USERS, (B,)), USERS + torch.randint(0, ITEMS, (B,)), USERS + torch.randint(0, ITEMS, (B,))], 1)


model, criterion, empty = Pairs(USERS + ITEMS, D), Loss(), torch.zeros(B)
opt = peer.adam(model.parameters(), lr=1e-3) if optimiser == "adam" else torch.optim.SGD(model.parameters(), lr=1e-3)
version = ""
if form != "plain":
    import opacus
    version = opacus.__version__
    private = dict(noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=B)
if form == "hooks":
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer
    model = GradSampleModule(model)
    opt = DPOptimizer(opt, **private)
elif form == "ghost":
    from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleModuleFastGradientClipping
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
    model = GradSampleModuleFastGradientClipping(model, max_grad_norm=1.0, use_ghost_clipping=True)
    opt = DPOptimizerFastGradientClipping(opt, **private)
    criterion = DPLossFastGradientClipping(model, opt, criterion)


def step():
    rows = batch()
    if form != "hooks":
        opt.zero_grad()
        criterion(model(rows), empty).backward()
        opt.step()
        return
    opt.zero_grad()
    for at in range(0, B, PART):  # opt.step sums the clipped gradients of a part, and makes the step at the last one
        last = at + PART >= B
        opt.signal_skip_step(do_skip=not last)
        criterion(model(rows[at:at + PART]), empty[:PART]).backward()
        opt.step()
        opt.zero_grad()


loss = check()
once = form == "hooks"  # one of its steps takes tens of seconds
peer.measure(step, f"{form}_{optimiser}_opacus_{version}", f"table={USERS + ITEMS}x{D} batch={B} loss={loss:.6f}", secs,
             warm=0 if once else 2, least=1 if once else 5)
