"""Lists of 1,000 users, and what ranx, RecBole, LensKit, Elliot and trec_eval make of them.

    python scripts/reference/metrics.py ELLIOT internal/evaluation/testdata/conformance

writes the lists, the truth and the training rows of four cases, and golden.json with each library's numbers, to which
internal/evaluation/conformance_test.go holds privrec's definitions. The cases:

even      every user has a list of 25 items with ranks and scores, and truth; no ties
ragged    scores with ties, also in lists of more than 16 items, short lists, users without a list, users without truth
repeated  lists that hold items twice, with ranks and scores, and rows of the truth that come twice
graded    a TREC run and qrels with gains -1 to 3, users without a relevant item, scores that differ by less than a
          32-bit float can tell

Needs Python 3.11 with ranx 0.3.21, recbole 1.2.1 (pip install --no-deps), lenskit 2025.8.1, pytrec_eval-terrier 0.5.11,
torch, and the source tree of Elliot 0.3.1 in the folder ELLIOT. RecBole is given the lists as the places that its
collector would fill (rec.topk, rec.items), in the order of the file where scores tie, and its padding item 0 where a
list is short.
"""
import collections
import gzip
import json
import os
import random
import sys
import types

import numpy as np

elliot, folder = sys.argv[1], sys.argv[2]
CUTS = [1, 5, 10, 20]
USERS, ITEMS = 1000, 300
draw = random.Random(20)

# RecBole was written for an older numpy, and imports modules that its metrics do not use.
np.float = float
for name in ("ray", "ray.tune", "torch.utils.tensorboard", "plotly", "plotly.graph_objs", "thop"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["ray"].tune = sys.modules["ray.tune"]
sys.modules["torch.utils.tensorboard"].SummaryWriter = object
sys.modules["thop"].profile = None
sys.path.insert(0, elliot)


def write(name, lines):
    with open(os.path.join(folder, name + ".gz"), "wb") as raw:
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=9) as f:
            f.write("".join(line + "\n" for line in lines).encode())


# Items differ in popularity, so that novelty and Gini have something to tell. One item in ten is never trained on.
weights = [1 / (i + 5) for i in range(ITEMS)]
users = ["u%d" % u for u in range(USERS)]
items = ["i%d" % i for i in range(ITEMS)]


def some(n, among=ITEMS):
    taken = {}
    while len(taken) < n:
        taken[draw.choices(range(among), weights[:among])[0]] = True
    return [items[i] for i in taken]


train = [(u, i) for u in users for i in some(draw.randint(1, 15), ITEMS * 9 // 10)]
train += [draw.choice(train) for _ in range(200)]  # rows that come twice
write("train.dat", ["%s::%s::4::0" % row for row in train])


def listed(truth, n):
    """n items, more of them relevant than chance would find."""
    pool = [i for i in truth if draw.random() < 0.5] + [i for i in some(n + 10) if i not in truth]
    pool = list(dict.fromkeys(pool))[:n]
    draw.shuffle(pool)
    return pool


def even():
    truth = {u: some(draw.randint(1, 30)) for u in users}
    recs = []
    for u in users:
        rows = [(u, i, r + 1, 1 / (r + 2)) for r, i in enumerate(listed(truth[u], 25))]
        draw.shuffle(rows)  # ranks say the order, not the file
        recs += rows
    write("even.tsv", ["user_id\titem_id\trank\tscore"] + ["%s\t%s\t%d\t%.3f" % r for r in recs])
    write("even.inter", ["user_id:token\titem_id:token"] + ["%s\t%s" % (u, i) for u in users for i in truth[u]])
    return recs, [(u, i, 1) for u in users for i in truth[u]]


def ragged():
    truth = {u: some(draw.randint(1, 30)) for u in users if draw.random() < 0.9}
    recs = []
    for u in users:
        if draw.random() < 0.1:
            continue
        n = draw.choice([1, 2, 3, 7, 12, 24, 40])
        recs += [(u, i, None, draw.randint(0, draw.choice([2, 9]))) for i in listed(truth.get(u, []), n)]
    write("ragged.csv", ["user,item,score"] + ["%s,%s,%d" % (u, i, s) for u, i, _, s in recs])
    write("ragged.truth.csv", ["user,item"] + ["%s,%s" % (u, i) for u in truth for i in truth[u]])
    return recs, [(u, i, 1) for u in truth for i in truth[u]]


def repeated():
    truth = {u: some(draw.randint(1, 20)) for u in users}
    recs = []
    for u in users:
        if draw.random() < 0.1:
            continue
        rows = listed(truth[u], draw.choice([1, 3, 8, 15]))
        for _ in range(draw.randint(0, 3)):
            rows.insert(draw.randint(0, len(rows)), draw.choice(rows))
        scores = sorted(draw.sample(range(100), len(rows)), reverse=True)
        recs += [(u, i, r + 1, s) for r, (i, s) in enumerate(zip(rows, scores))]
    rows = [(u, i, 1) for u in users for i in truth[u]]
    rows += [draw.choice(rows) for _ in range(150)]
    write("repeated.tsv", ["user_id\titem_id\trank\tscore"] + ["%s\t%s\t%d\t%d" % r for r in recs])
    write("repeated.truth.tsv", ["user_id\titem_id"] + ["%s\t%s" % (u, i) for u, i, _ in rows])
    return recs, rows


def graded():
    rows = []
    for u in users:
        if draw.random() < 0.1:
            continue
        gains = draw.choice([[0], [-1, 0, 1], [0, 1, 2, 3], [1, 2, 3]])
        rows += [(u, i, draw.choice(gains)) for i in some(draw.randint(1, 25))]
    relevant = collections.defaultdict(list)
    for u, i, g in rows:
        if g > 0:
            relevant[u].append(i)
    recs = []
    for u in users:
        if draw.random() < 0.1:
            continue
        chosen = listed(relevant[u], draw.choice([1, 4, 15, 30]))
        recs += [(u, i, None, draw.choice([1.0, 1.00000001, 1.00000002, 2.5, 7.25, 0.125])) for i in chosen]
    write("graded.run", ["%s Q0 %s %d %r mine" % (u, i, r, s) for r, (u, i, _, s) in enumerate(recs)])
    write("graded.qrels", ["%s 0 %s %d" % r for r in rows])
    return recs, rows


def by_user(rows):
    out = collections.OrderedDict()
    for row in rows:
        out.setdefault(row[0], []).append(row[1:])
    return out


def ordered(recs):
    """Lists in the order that is handed to libraries which take ordered lists."""
    out = {}
    for u, rows in by_user(recs).items():
        key = (lambda r: r[1]) if rows[0][1] is not None else (lambda r: -r[2])
        out[u] = [r[0] for r in sorted(rows, key=key)]
    return out


def truth_of(rows):
    return {u: {i: g for i, g in r} for u, r in by_user(rows).items()}


def catalogue(recs, rows):
    return list(dict.fromkeys([i for _, i in train] + [r[1] for r in rows] + [r[1] for r in recs]))


def use_recbole(recs, rows):
    import torch
    from recbole.evaluator import metrics
    from recbole.evaluator.collector import DataStruct

    number = {i: n + 1 for n, i in enumerate(catalogue(recs, rows))}
    lists, truth = ordered(recs), truth_of(rows)
    places = torch.zeros((len(truth), max(CUTS)), dtype=torch.int64)
    topk = torch.zeros((len(truth), max(CUTS) + 1), dtype=torch.int32)
    for row, u in enumerate(truth):
        topk[row, -1] = len(truth[u])
        for at, i in enumerate(lists.get(u, [])[: max(CUTS)]):
            places[row, at] = number[i]
            topk[row, at] = int(i in truth[u])
    data = DataStruct()
    data.set("rec.items", places)
    data.set("rec.topk", topk)
    data.set("data.num_items", len(number) + 1)
    data.set("data.count_items", collections.Counter(number[i] for _, i in train))
    config = {"topk": CUTS, "metric_decimal_place": 16}
    out = {}
    for name, metric in {
        "Recall": metrics.Recall, "Precision": metrics.Precision, "NDCG": metrics.NDCG, "MAP": metrics.MAP,
        "MRR": metrics.MRR, "HR": metrics.Hit, "Coverage": metrics.ItemCoverage, "Gini": metrics.GiniIndex,
        "Novelty": metrics.AveragePopularity,
    }.items():
        for key, value in metric(config).calculate_metric(data).items():
            out[name + "@" + key.split("@")[1]] = float(value)
    return out


def use_lenskit(recs, rows):
    import pandas
    from lenskit.data import ItemList, ItemListCollection, from_interactions_df
    from lenskit.metrics import Hit, NDCG, Precision, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import AveragePrecision, ListGini, MeanPopRank

    distinct = list(dict.fromkeys(train))  # LensKit refuses rows that come twice
    data = from_interactions_df(pandas.DataFrame(distinct, columns=["user_id", "item_id"]))
    lists = ItemListCollection.from_dict({u: ItemList(item_ids=x, ordered=True) for u, x in ordered(recs).items()}, key="user_id")
    truth = ItemListCollection.from_dict({u: ItemList(item_ids=[i for i, _ in x]) for u, x in by_user(rows).items()}, key="user_id")
    names = {"Recall": Recall, "Precision": Precision, "NDCG": NDCG, "MAP": AveragePrecision, "MRR": RecipRank, "HR": Hit}
    if any(u not in truth_of(rows) for u in ordered(recs)):
        try:
            AveragePrecision(5).measure_list(ItemList(item_ids=["x"], ordered=True), ItemList([]))
            raise SystemExit("LensKit has a MAP of users without truth now")
        except ZeroDivisionError:
            del names["MAP"]
    out = {}
    for k in CUTS:
        run = RunAnalysis()
        for name, metric in names.items():
            run.add_metric(metric(k), label=name)
        run.add_metric(MeanPopRank(data, n=k), label="Novelty")
        run.add_metric(ListGini(k, items=len(catalogue(recs, rows))), label="Gini")
        result = run.measure(lists, truth)
        means = result.list_summary()["mean"]
        for name in list(names) + ["Novelty"]:
            out["%s@%d" % (name, k)] = float(means[name])
        out["Gini@%d" % k] = float(result.global_metrics()["Gini"])
    return out


def use_elliot(recs, rows):
    from elliot.evaluation import metrics, relevance

    truth = truth_of(rows)
    held = collections.defaultdict(dict)
    for u, i in train:
        held[u][i] = 1.0
    # Proxy.read_recommendations; where a file has no scores it has none to sort by.
    lists = {u: sorted([(i, s) for i, _, s in x], key=lambda r: r[1], reverse=True) for u, x in by_user(recs).items()}
    lists = {u: x for u, x in lists.items() if truth.get(u, [])}  # Evaluator._process_test_data
    out = {}
    for k in CUTS:
        given = types.SimpleNamespace(
            cutoff=k, relevance=relevance.Relevance({u: {i: 1.0 for i in t} for u, t in truth.items()}, 1),
            num_items=len({i for _, i in train}), data=types.SimpleNamespace(train_dict=held),
        )
        for name, metric in {
            "Recall": metrics.Recall, "Precision": metrics.Precision, "NDCG": metrics.nDCG, "MAP": metrics.MAP,
            "MRR": metrics.MRR, "HR": metrics.HR, "Coverage": metrics.ItemCoverage, "Gini": metrics.GiniIndex,
            "Novelty": metrics.EFD, "EPC": metrics.EPC,
        }.items():
            out["%s@%d" % (name, k)] = float(metric(lists, None, None, given).eval())
    return out


def use_ranx(recs, rows):
    from ranx import Qrels, Run, evaluate

    scores = {u: {i: float(s) for i, _, s in x} for u, x in by_user(recs).items()}
    names = {"Recall": "recall", "Precision": "precision", "NDCG": "ndcg", "MAP": "map", "MRR": "mrr", "HR": "hit_rate"}
    wanted = ["%s@%d" % (m, k) for m in names.values() for k in CUTS]
    values = evaluate(Qrels(truth_of(rows)), Run(scores), wanted, make_comparable=True)
    return {"%s@%d" % (name, k): float(values["%s@%d" % (m, k)]) for name, m in names.items() for k in CUTS}


def use_trec_eval(recs, rows):
    import pytrec_eval

    names = {"Recall": "recall", "Precision": "P", "NDCG": "ndcg_cut", "MAP": "map_cut", "HR": "success"}
    cuts = ",".join(map(str, CUTS))
    wanted = {"%s.%s" % (m, cuts) for m in names.values()} | {"recip_rank"}
    scores = {u: {i: float(s) for i, _, s in x} for u, x in by_user(recs).items()}
    values = pytrec_eval.RelevanceEvaluator(truth_of(rows), wanted).evaluate(scores)

    def mean(measure):
        return float(np.mean([v[measure] for v in values.values()]))

    out = {"%s@%d" % (name, k): mean("%s_%d" % (m, k)) for name, m in names.items() for k in CUTS}
    out["MRR"] = mean("recip_rank")
    return out


everything = {"recbole": use_recbole, "lenskit": use_lenskit, "elliot": use_elliot, "ranx": use_ranx, "trec_eval": use_trec_eval}
cases = [
    ("even", even, ["recbole", "lenskit", "elliot", "ranx", "trec_eval"], "even.tsv.gz", "even.inter.gz"),
    ("ragged", ragged, ["recbole", "lenskit", "elliot", "ranx", "trec_eval"], "ragged.csv.gz", "ragged.truth.csv.gz"),
    ("repeated", repeated, ["lenskit", "elliot", "ranx"], "repeated.tsv.gz", "repeated.truth.tsv.gz"),
    ("graded", graded, ["ranx", "trec_eval"], "graded.run.gz", "graded.qrels.gz"),
]
golden = []
for name, make, libraries, recs_file, truth_file in cases:
    recs, rows = make()
    values = {library: everything[library](recs, rows) for library in libraries}
    golden.append({"case": name, "recs": recs_file, "truth": truth_file, "train": "train.dat.gz", "cutoffs": CUTS, "values": values})
with open(os.path.join(folder, "golden.json"), "w") as f:
    json.dump(golden, f, indent=1, sort_keys=True)
    f.write("\n")
