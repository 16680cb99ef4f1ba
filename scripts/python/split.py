"""Splits ML-100K into rows for training, validation and testing, 80, 10 and 10 percent of each
user's, and writes them as a Python user has them: tables of user_id and item_id.

python split.py ML-100K-FOLDER OUT
"""

import collections
import csv
import gzip
import os
import random
import sys


def rows(path):
    """Yields the rows of a file of RecBole, plain or gzip, as dictionaries."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as f:
        for row in csv.DictReader(f, delimiter="\t"):
            yield {name.split(":")[0]: value for name, value in row.items()}


def find(folder, name):
    for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
        if os.path.exists(path):
            return path
    sys.exit(f"{folder} has no {name}")


def write(out, name, header, table):
    with open(os.path.join(out, name), "w", newline="") as f:
        w = csv.writer(f, delimiter="\t", lineterminator="\n")
        w.writerow(header)
        w.writerows(table)


def main(folder, out):
    os.makedirs(os.path.join(out, "atomic", "recbole"), exist_ok=True)
    users = collections.defaultdict(list)
    for r in rows(find(folder, "ml-100k.inter")):
        users[r["user_id"]].append((int(r["timestamp"]), r["item_id"]))
    parts = {"train": [], "valid": [], "test": []}
    draw = random.Random(1)
    for user in sorted(users, key=int):
        items = users[user]
        draw.shuffle(items)
        test, valid = len(items) // 10, len(items) // 10
        for name, part in (("test", items[:test]), ("valid", items[test:test + valid]), ("train", items[test + valid:])):
            parts[name] += [(user, item) for _, item in sorted(part)]
    for name, part in parts.items():
        write(out, name + ".tsv", ["user_id", "item_id"], part)
        # RecBole's own form has the type in the name of a column.
        write(os.path.join(out, "atomic", "recbole"), f"recbole.{name}.inter", ["user_id:token", "item_id:token"], part)
    people = [(r["user_id"], r["age"], r["gender"], r["occupation"]) for r in rows(find(folder, "ml-100k.user"))]
    write(out, "attributes.tsv", ["user_id", "age", "gender", "occupation"], people)
    print({name: len(part) for name, part in parts.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
