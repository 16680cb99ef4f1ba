"""Splits a MovieLens folder into a published split for privrec: a random fifth of all rows is for testing.

python split.py ML-FOLDER OUT SEED

OUT gets train.txt and test.txt, a line for each user with the items, and items.txt with the ids of all items, which
come from the list of titles and not from the rows.
"""

import collections
import csv
import gzip
import os
import random
import sys


def table(folder, name):
    """Yields the rows of a tab separated file, plain or gzip, as dictionaries without types in the names."""
    path = os.path.join(folder, name)
    opened = open(path, encoding="utf8") if os.path.exists(path) else gzip.open(path + ".gz", "rt", encoding="utf8")
    with opened as f:
        for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield {name.split(":")[0]: value for name, value in row.items()}


def main(folder, out, seed):
    draw = random.Random(int(seed))
    parts = {"train": collections.defaultdict(list), "test": collections.defaultdict(list)}
    for row in table(folder, os.path.basename(folder.rstrip("/")) + ".inter"):
        parts["test" if draw.random() < 0.2 else "train"][int(row["user_id"])].append(int(row["item_id"]))
    os.makedirs(out, exist_ok=True)
    for name, users in parts.items():
        with open(os.path.join(out, name + ".txt"), "w") as f:
            for user in sorted(users):
                print(user, *sorted(users[user]), file=f)
    with open(os.path.join(out, "items.txt"), "w") as f:
        for row in table(folder, "items.tsv"):
            print(row["item"], file=f)


if __name__ == "__main__":
    main(*sys.argv[1:])
