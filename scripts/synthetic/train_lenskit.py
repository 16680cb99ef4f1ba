"""Trains LensKit's models on synthetic rows and measures them for real users, whose training rows are the query.

python train_lenskit.py REAL SYNTHETIC.inter

REAL is a folder of split.py. Needs lenskit and pandas.
"""

import os
import sys

os.environ.setdefault("LK_NUM_THREADS", "1")

import pandas as pd
from lenskit.als import ImplicitMFScorer
from lenskit.basic import PopScorer
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.knn import ItemKNNScorer, UserKNNScorer
from lenskit.operations import recommend
from lenskit.pipeline import topn_pipeline
from lenskit.random import set_global_rng

MODELS = {
    "PopScorer": PopScorer(),
    "ItemKNNScorer": ItemKNNScorer(max_nbrs=100, feedback="implicit"),
    "UserKNNScorer": UserKNNScorer(max_nbrs=100, feedback="implicit"),
    "ImplicitMFScorer": ImplicitMFScorer(embedding_size=16, epochs=10),
}


def rows(path):
    with open(path) as f:
        return {user: items for user, *items in map(str.split, f)}


def main(real, path):
    train, test = rows(f"{real}/train.txt"), rows(f"{real}/test.txt")
    table = pd.read_csv(path, sep="\t", dtype=str)
    table.columns = [c.split(":")[0] for c in table.columns]
    data = from_interactions_df(table)
    known = set(data.items.ids())  # LensKit refuses others in a query
    print(f"{data.user_count} users, {data.item_count} items, {data.interaction_count} rows")
    for name, scorer in MODELS.items():
        set_global_rng(1)
        pipeline = topn_pipeline(scorer)
        pipeline.train(data)
        found = []
        for user, items in test.items():
            query = RecQuery(user_items=ItemList(item_ids=[i for i in train.get(user, []) if i in known]))
            best = set(recommend(pipeline, query, n=20).ids())
            found.append(len(best & set(items)) / len(items))
        print(f"{name} Recall@20 {100 * sum(found) / len(found):.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
