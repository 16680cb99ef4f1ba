"""Trains implicit matrix factorisation with LensKit and exports lists and vectors.

python train_lenskit.py FOLDER OUT
"""

import os
import sys

os.environ.setdefault("LK_NUM_THREADS", "2")

import pandas as pd
from lenskit.als import ImplicitMFScorer
from lenskit.batch import recommend
from lenskit.data import from_interactions_df
from lenskit.pipeline import topn_pipeline
from lenskit.random import set_global_rng

import export


def main(folder, out):
    set_global_rng(1)
    data = from_interactions_df(pd.read_csv(f"{folder}/train.tsv", sep="\t", dtype=str))
    model = ImplicitMFScorer(features=64, epochs=15)
    pipeline = topn_pipeline(model)
    pipeline.train(data)
    users = data.users.ids()
    got = recommend(pipeline, users, n=export.LENGTH, n_jobs=1)
    rows = []
    for key, items in got:
        user = key.user_id
        rows += [(user, item, rank, score) for rank, (item, score) in enumerate(zip(items.ids(), items.scores()), 1)]
    export.lists(out, rows)
    scorer = pipeline.component("scorer")
    export.vectors(out, numpy(scorer.user_embeddings), scorer.users.ids(), numpy(scorer.item_embeddings), scorer.items.ids())


def numpy(matrix):
    return matrix.detach().cpu().numpy() if hasattr(matrix, "detach") else matrix


if __name__ == "__main__":
    main(*sys.argv[1:])
