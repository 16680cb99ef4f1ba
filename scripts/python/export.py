"""Writes what a trained model shows, in files that any library can write: lists as a table,
vectors as .npy or .npz with a file of ids for each."""

import os

import numpy as np

LENGTH = 50  # items of a list


def read(path):
    """Returns the pairs of a table of user_id and item_id."""
    with open(path) as f:
        return [tuple(line.rstrip("\n").split("\t")) for line in f][1:]


def lists(out, rows):
    """Writes lists: rows of user, item, rank and score."""
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "recs.tsv"), "w") as f:
        f.write("user_id\titem_id\trank\tscore\n")
        for user, item, rank, score in rows:
            f.write(f"{user}\t{item}\t{rank}\t{score:.9g}\n")


def vectors(out, users, user_ids, items, item_ids, archive=False):
    """Writes the vectors of users and items, a row each, with their ids: two files .npy, or with
    archive one file .npz."""
    arrays = {}
    for name, matrix, ids in (("users", users, user_ids), ("items", items, item_ids)):
        arrays[name] = np.ascontiguousarray(matrix, dtype=np.float32)
        assert len(matrix) == len(ids), name
        if not archive:
            np.save(os.path.join(out, name + ".npy"), arrays[name])
        with open(os.path.join(out, name + ".txt"), "w") as f:
            f.writelines(f"{i}\n" for i in ids)
    if archive:
        np.savez(os.path.join(out, "vectors.npz"), **arrays)
