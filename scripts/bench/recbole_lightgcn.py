"""LightGCN on ML-100K by RecBole 1.2.1, from reading the rows to the measures of the test rows: the peer of a whole run of privrec.

20 epochs of batch 2048, d 64, two layers, validation after every epoch, 80, 10 and 10 percent of each user's rows.
RecBole starts with numpy < 1.24 and setuptools < 80, thus at most Python 3.11; its LightGCN needs scipy < 1.11.

usage: recbole_lightgcn.py FOLDER      FOLDER/ml-100k/ml-100k.inter is RecBole's own file; threads: NT (default 2)
output: one JSON object: the measures
"""
import json, os, sys, types
import torch

# RecBole imports ray for a search of settings, which is not done here.
ray = types.ModuleType("ray")
ray.tune = types.ModuleType("ray.tune")
sys.modules.setdefault("ray", ray)
sys.modules.setdefault("ray.tune", ray.tune)

from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.general_recommender import LightGCN
from recbole.trainer import Trainer
from recbole.utils import init_seed

os.chdir(sys.argv[1])  # for its logs
torch.set_num_threads(int(os.environ.get("NT", "2")))
config = Config(model="LightGCN", dataset="ml-100k", config_dict=dict(
    data_path=sys.argv[1], load_col={"inter": ["user_id", "item_id"]}, use_gpu=False, seed=1, reproducibility=True,
    epochs=20, train_batch_size=2048, embedding_size=64, n_layers=2, learning_rate=0.001, show_progress=False,
    metrics=["Recall", "NDCG"], topk=[20], valid_metric="Recall@20", stopping_step=100,
    eval_args={"split": {"RS": [0.8, 0.1, 0.1]}, "mode": "full", "order": "RO", "group_by": "user"}, checkpoint_dir=sys.argv[1]))
init_seed(1, True)
data = create_dataset(config)
train, valid, test = data_preparation(config, data)
model = LightGCN(config, train.dataset)
trainer = Trainer(config, model)
trainer.fit(train, valid, saved=False, show_progress=False)
print(json.dumps({k: float(v) for k, v in trainer.evaluate(test, load_best_model=False, show_progress=False).items()}))
