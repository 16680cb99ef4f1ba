"""Trains ALS with implicit and exports lists and vectors.

python train_implicit.py FOLDER OUT
"""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse
from implicit.als import AlternatingLeastSquares

import export


def main(folder, out):
    pairs = export.read(f"{folder}/train.tsv")
    user_ids, item_ids = (sorted({p[i] for p in pairs}, key=int) for i in (0, 1))
    user_at, item_at = ({name: n for n, name in enumerate(ids)} for ids in (user_ids, item_ids))
    at = [user_at[u] for u, _ in pairs], [item_at[i] for _, i in pairs]
    matrix = scipy.sparse.csr_matrix((np.ones(len(pairs), np.float32), at), shape=(len(user_ids), len(item_ids)))
    model = AlternatingLeastSquares(factors=64, regularization=0.05, alpha=2.0, iterations=15, num_threads=2, random_state=1)
    model.fit(matrix, show_progress=False)
    best, scores = model.recommend(np.arange(len(user_ids)), matrix, N=export.LENGTH, filter_already_liked_items=True)
    export.lists(out, [(user, item_ids[i], rank, score) for user, items, row in zip(user_ids, best, scores)
                       for rank, (i, score) in enumerate(zip(items, row), 1)])
    export.vectors(out, model.user_factors, user_ids, model.item_factors, item_ids)


if __name__ == "__main__":
    main(*sys.argv[1:])
