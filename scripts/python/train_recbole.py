"""Trains BPR with RecBole 1.2.1 and exports lists and vectors.

python train_recbole.py FOLDER OUT
"""

import os
import sys
import types

import numpy as np
import torch

# RecBole imports ray for a search of settings, which is not done here.
ray = types.ModuleType("ray")
ray.tune = types.ModuleType("ray.tune")
sys.modules.setdefault("ray", ray)
sys.modules.setdefault("ray.tune", ray.tune)

from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.general_recommender import BPR
from recbole.trainer import Trainer
from recbole.utils import init_seed

import export


def main(folder, out):
    folder, out = os.path.abspath(folder), os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    os.chdir(out)  # RecBole writes its logs where it is started
    torch.set_num_threads(2)
    config = Config(model="BPR", dataset="recbole", config_dict=dict(
        data_path=f"{folder}/atomic", benchmark_filename=["train", "valid", "test"], load_col={"inter": ["user_id", "item_id"]},
        use_gpu=False, seed=1, reproducibility=True, epochs=20, train_batch_size=4096, embedding_size=64,
        learning_rate=0.005, show_progress=False, metrics=["Recall", "NDCG"], topk=[10], valid_metric="NDCG@10",
        eval_args={"mode": "full", "order": "RO", "group_by": "user"}, checkpoint_dir=out))
    init_seed(1, True)
    data = create_dataset(config)
    train, valid, _ = data_preparation(config, data)
    model = BPR(config, train.dataset)
    Trainer(config, model).fit(train, valid, saved=False, show_progress=False)
    users, items = (e.weight.detach().numpy()[1:] for e in (model.user_embedding, model.item_embedding))  # 0 pads
    user_ids, item_ids = (data.field2id_token[f][1:] for f in ("user_id", "item_id"))
    at = [{i: n for n, i in enumerate(ids)} for ids in (user_ids, item_ids)]
    scores = users @ items.T
    for user, item in export.read(f"{folder}/train.tsv"):
        scores[at[0][user], at[1][item]] = -np.inf
    rows = []
    for u, user in enumerate(user_ids):
        best = np.argsort(-scores[u], kind="stable")[:export.LENGTH]
        rows += [(user, item_ids[i], rank, scores[u, i]) for rank, i in enumerate(best, 1)]
    export.lists(out, rows)
    export.vectors(out, users, user_ids, items, item_ids, archive=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
