"""Measures, imports and attacks what models of other libraries show, with the wheel alone.

python measure.py FOLDER STARTED MODEL...     STARTED: when pip install began, as date +%s.%N says it
python measure.py FOLDER --frames MODEL       the same metrics of data frames as of files
"""

import os
import sys
import time

import privrec

# What each attack needs beside the model; sees is what it is shown of a model of which vectors are known.
ATTACKS = {
    "exposure": {},
    "membership": {"sees": "scores,lists,vectors", "more": ["--set", "attack.non_members=test"]},
    "attribute": {"sees": "vectors,lists,interactions", "more": ["--attributes", "attributes.tsv", "--set", "attack.k=[10,20]"]},
}


class Times:
    """When the first table of each kind was shown, in seconds after pip install began."""

    def __init__(self, started):
        self.started, self.first = started, {}

    def mark(self, *kinds):
        now = time.time() - self.started
        for kind in kinds:
            self.first.setdefault(kind, now)
        return now


def table(answer, name):
    """Returns a table of an answer, as rows."""
    return next(t["rows"] for t in answer["tables"] if t["name"] == name)


def show(title, rows, seconds):
    """Prints rows as a table, and the seconds since the start."""
    print(f"\n{title}  ({seconds:.1f} s after pip install began)")
    cells = [list(rows[0])] + [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in r.values()] for r in rows]
    widths = [max(len(c[i]) for c in cells) for i in range(len(cells[0]))]
    for c in cells:
        print("  " + "  ".join(text.ljust(w) for text, w in zip(c, widths)).rstrip())
    sys.stdout.flush()


def attack(model, kind, of, args, times):
    """Attacks a model by its lists or its vectors, and shows the first table that has floors."""
    answer = privrec.run(["attack", kind, *args, "--quiet", "--out", f"runs/{model}-{kind}-{of}"])
    for t in answer["tables"]:
        if t["rows"] and any("floor" in str(v) for r in t["rows"] for v in r.values()):
            show(f"{model}: {kind} from {of}: {t.get('title') or t['name']}", t["rows"], times.mark("the first attack", f"the first attack on {kind}"))
            return
    sys.exit(f"{model}: {kind} from {of}: no table has a floor")


def by_lists(model, times):
    """Attacks, measures and imports the lists of a model."""
    recs = f"{model}/recs.tsv"
    common = ["--recs", recs, "--train", "train.tsv"]
    for kind, needs in ATTACKS.items():
        more = needs.get("more", []) if kind != "membership" else ["--non-members", "test.tsv"]
        attack(model, kind, "lists", [*common, *more], times)
    got = {d: privrec.evaluate(recs, "test.tsv", train="train.tsv", definition=d, k=10) for d in ("privrec", "recbole", "lenskit")}
    show(f"{model}: lists, as three libraries measure them", [
        {"metric": rows[0]["metric"], **{d: r["lists"] for d, r in zip(got, rows)}}
        for rows in zip(*(table(a, "metrics") for a in got.values())) if "lists" in rows[0]], times.mark())
    privrec.run(["import", *common, "--quiet", "--truth", "test.tsv", "--name", model, "--out", f"runs/{model}-lists"])


def by_vectors(model, times):
    """Imports the vectors of a model, compares what they rank with its lists, and attacks them."""
    run, archive = f"runs/{model}-vectors", f"{model}/vectors.npz"
    files = archive if os.path.exists(archive) else f"{model}/users.npy,{model}/items.npy"
    privrec.run(["import", "--vectors", files, "--ids", f"{model}/users.txt,{model}/items.txt", "--train", "train.tsv", "--truth", "test.tsv",
                 "--name", f"{model}, vectors", "--quiet", "--out", run])
    both = privrec.run(["compare", run, f"runs/{model}-lists"])
    show(f"{model}: {os.path.basename(files)} ranked here, and the lists of the library", table(both, "differences"), times.mark())
    for kind, needs in ATTACKS.items():
        sees = ["--set", f"attack.sees=[{needs['sees']}]"] if "sees" in needs else []
        attack(model, kind, "vectors", ["--on", run, *sees, *needs.get("more", [])], times)


def main(folder, started, *models):
    os.chdir(folder)
    times = Times(float(started))
    for model in models:
        by_lists(model, times)
        by_vectors(model, times)
    times.mark("everything")
    print("\nseconds after pip install of the wheel began")
    for what, seconds in times.first.items():
        print(f"  {what}: {seconds:.1f}")


def frames(folder, model):
    import pandas
    import polars

    os.chdir(folder)
    files = f"{model}/recs.tsv", "test.tsv", "train.tsv"
    want = privrec.evaluate(files[0], files[1], train=files[2])["tables"]
    for name, read in (("pandas", lambda p: pandas.read_csv(p, sep="\t")), ("polars", lambda p: polars.read_csv(p, separator="\t"))):
        recs, truth, train = map(read, files)
        if privrec.evaluate(recs, truth, train=train)["tables"] != want:
            sys.exit(f"frames of {name} give other metrics than files")
        print(f"frames of {name}: the metrics of the files")


if __name__ == "__main__":
    if sys.argv[2] == "--frames":
        frames(sys.argv[1], sys.argv[3])
    else:
        main(*sys.argv[1:])
