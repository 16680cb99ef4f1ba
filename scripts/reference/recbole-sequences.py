"""GRU4Rec by RecBole on the rows that privrec trains on, to tell a difference of programs from one of rows.

RecBole's benchmark of sequential models (ML-1M, leave-one-out) and configs/dipsgnn/ml-1m-recbole-gru4rec.yaml use
the same counts, but a copy of MovieLens without times has rows of one second in another order. Trained on the rows
of one copy the two programs must agree. A few hundred users are enough, and take minutes instead of days.

Needs RecBole 1.2.1, numpy < 1.24, pandas < 2.1, setuptools < 80, torch. With the folder FROM/ml-1m of RecBole's files:

    python scripts/reference/recbole-sequences.py FROM 600 SUBSET
    PRIVREC_DATA=SUBSET privrec train gru4rec --config configs/dipsgnn/ml-1m-recbole-gru4rec.yaml --set train.batch=37

Batches are 512 labels in both: 37 windows of about 14 labels in privrec.
"""
import gzip
import os
import sys
import types

import torch

source, users, subset = sys.argv[1], int(sys.argv[2]), sys.argv[3]
folder = os.path.join(subset, "ml-1m")
os.makedirs(folder, exist_ok=True)


def keep(name):
    """Writes the rows of the first users."""
    path = os.path.join(source, "ml-1m", name)
    opened = gzip.open(path + ".gz", "rt") if os.path.exists(path + ".gz") else open(path)
    with opened as rows, open(os.path.join(folder, name), "w") as out:
        out.write(next(rows))
        out.writelines(r for r in rows if int(r.split("\t", 1)[0]) <= users)


keep("ml-1m.inter")
keep("ml-1m.user")

# RecBole loads its own checkpoints, and imports ray for a search that is not made here.
load = torch.load
torch.load = lambda *a, **k: load(*a, **{**k, "weights_only": False})
ray = types.ModuleType("ray")
ray.tune = types.ModuleType("ray.tune")
sys.modules.update({"ray": ray, "ray.tune": ray.tune})

from recbole.quick_start import run_recbole  # noqa: E402

run_recbole(
    model="GRU4Rec",
    dataset="ml-1m",
    config_dict={
        "data_path": subset, "use_gpu": False, "seed": 2020, "reproducibility": True, "show_progress": False,
        "checkpoint_dir": os.path.join(subset, "saved"),
        "load_col": {"inter": ["user_id", "item_id", "rating", "timestamp"]}, "val_interval": {"rating": "[3,inf)"},
        "user_inter_num_interval": "[10,inf)", "item_inter_num_interval": "[10,inf)", "MAX_ITEM_LIST_LENGTH": 50,
        "train_neg_sample_args": None, "loss_type": "CE", "train_batch_size": 512, "eval_batch_size": 4096,
        "embedding_size": 64, "hidden_size": 128, "num_layers": 2, "dropout_prob": 0.3, "learning_rate": 0.005,
        "epochs": 60, "stopping_step": 10, "metrics": ["Recall", "NDCG", "MRR"], "topk": [10, 20],
        "valid_metric": "NDCG@10",
        "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "group_by": "user", "mode": "full"},
    },
)
