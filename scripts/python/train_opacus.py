"""Trains a matrix factorisation with Opacus on batches of random allocation, and writes its events.

python train_opacus.py RATINGS OUT [EPOCHS [NOISE]]

RATINGS is a table of user, item and rating, one row a line after a head, separated by tabs, perhaps gzipped, such as
ml-100k.inter.gz. `privrec account events OUT` gives the account of the batches that were drawn. Opacus takes them to
be Poisson samples, and what it states is printed.
"""

import gzip
import json
import sys

import torch
from opacus import PrivacyEngine
from opacus.accountants import PRVAccountant, RDPAccountant
from torch.utils.data import DataLoader, Sampler, TensorDataset, default_collate

BATCH, CLIP, DELTA, DIM = 500, 1.0, 1e-6, 16


class Allocation(Sampler):
    """Batches of random allocation: in every epoch each record draws one of the steps and is in no other."""

    def __init__(self, records, steps, generator=None):
        self.records, self.steps, self.generator = records, steps, generator

    def __len__(self):
        return self.steps

    def __iter__(self):
        step = torch.randint(self.steps, (self.records,), generator=self.generator)
        sizes = torch.bincount(step, minlength=self.steps).tolist()
        yield from (part.tolist() for part in torch.argsort(step).split(sizes))


def allocated(data, steps, generator=None):
    """Returns a loader of such batches of a TensorDataset. A batch may be empty, and is a step all the same."""
    empty = [x[:0] for x in data.tensors]
    return DataLoader(data, batch_sampler=Allocation(len(data), steps, generator),
                      collate_fn=lambda rows: default_collate(rows) if rows else empty)


class Factors(torch.nn.Module):
    def __init__(self, users, items):
        super().__init__()
        self.user, self.item = torch.nn.Embedding(users, DIM), torch.nn.Embedding(items, DIM)
        for table in (self.user, self.item):
            torch.nn.init.normal_(table.weight, std=0.3)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(1)


def read(path):
    """Returns users and items, numbered, and ratings from -1 to 1."""
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        next(file)
        rows = [line.rstrip("\n").split("\t")[:3] for line in file]
    place = [{name: n for n, name in enumerate(sorted({r[k] for r in rows}))} for k in (0, 1)]
    columns = [torch.tensor([place[k][r[k]] for r in rows]) for k in (0, 1)]
    return TensorDataset(*columns, torch.tensor([(float(r[2]) - 3) / 2 for r in rows])), len(place[0]), len(place[1])


def main(ratings, out, epochs=2, noise=0.8):
    torch.manual_seed(1)
    data, users, items = read(ratings)
    steps = -(-len(data) // BATCH)
    model = Factors(users, items)
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.01), data_loader=allocated(data, steps),
        noise_multiplier=noise, max_grad_norm=CLIP, poisson_sampling=False)
    assert optimizer.expected_batch_size == len(data) // steps  # fixed: the drawn size is private
    sizes = []
    for _ in range(epochs):
        for u, i, r in loader:
            sizes.append(len(r))
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(u, i), r, reduction="mean").backward()
            optimizer.step()
    history = engine.accountant.history
    if [(n, k) for n, _, k in history] != [(noise, len(sizes))] or len(sizes) != epochs * steps:
        raise ValueError(f"{len(sizes)} batches in {epochs} epochs of {steps} steps, the history is {history}")
    rdp, prv = RDPAccountant(), PRVAccountant()
    rdp.history = prv.history = history
    claim = float(prv.get_epsilon(DELTA, eps_error=0.001))
    print(f"Opacus, for Poisson samples at rate {history[0][1]}: {claim:.4f} by prv, "
          f"{rdp.get_epsilon(DELTA):.4f} by rdp; batches of {min(sizes)} to {max(sizes)}")
    head = {"privrec_events": 1, "unit": "interaction", "neighbours": "add-remove", "records": len(data),
            "delta": DELTA, "noise": {"numbers": "float"}, "claim": {"epsilon": claim, "delta": DELTA, "by": "Opacus"}}
    log = {"records": len(data), "epochs": epochs, "steps_per_epoch": steps, "steps": len(sizes), "batch_sizes": sizes,
           "loader": "allocation", "clip": CLIP, "normalised_by": "expected-batch"}
    event = {"mechanism": "dp-sgd", "noise_multiplier": noise, "sampling": "allocation", "log": log}
    with open(out, "w") as file:
        file.writelines(json.dumps(line, allow_nan=False) + "\n" for line in (head, event))


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(a) for a in sys.argv[3:4]), *(float(a) for a in sys.argv[4:5]))
