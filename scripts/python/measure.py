"""Measures, imports and attacks what models of other libraries show, with the wheel alone.

python measure.py FOLDER STARTED MODEL...     STARTED: when pip install began, as date +%s.%N says it
python measure.py FOLDER --frames MODEL       the same metrics of data frames as of files
"""

import os
import sys
import time

import privrec


def table(answer, name):
    """Returns a table of an answer, as rows."""
    return next(t["rows"] for t in answer["tables"] if t["name"] == name)


def show(title, rows, started):
    """Prints rows as a table, and the seconds since the start."""
    print(f"\n{title}  ({time.time() - started:.1f} s after pip install began)")
    cells = [list(rows[0])] + [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in r.values()] for r in rows]
    widths = [max(len(c[i]) for c in cells) for i in range(len(cells[0]))]
    for c in cells:
        print("  " + "  ".join(text.ljust(w) for text, w in zip(c, widths)).rstrip())
    sys.stdout.flush()


def main(folder, started, *models):
    os.chdir(folder)
    started = float(started)
    for model in models:
        recs = f"{model}/recs.tsv"
        common = ["--recs", recs, "--train", "train.tsv", "--quiet"]
        known = {
            "exposure": [],
            "membership": ["--non-members", "test.tsv"],
            "attribute": ["--attributes", "attributes.tsv"],
        }
        for attack, more in known.items():
            answer = privrec.run(["attack", attack, *common, *more, "--out", f"runs/{model}-{attack}"])
            for t in answer["tables"]:
                if t["rows"] and any("floor" in str(v) for r in t["rows"] for v in r.values()):
                    show(f"{model}: {attack}: {t.get('title') or t['name']}", t["rows"], started)
                    break
        got = {d: privrec.evaluate(recs, "test.tsv", train="train.tsv", definition=d, k=10) for d in ("privrec", "recbole", "lenskit")}
        show(f"{model}: lists, as three libraries measure them", [
            {"metric": rows[0]["metric"], **{d: r["lists"] for d, r in zip(got, rows)}}
            for rows in zip(*(table(a, "metrics") for a in got.values())) if "lists" in rows[0]], started)
        privrec.run(["import", *common, "--truth", "test.tsv", "--non-members", "test.tsv", "--out", f"runs/{model}"])


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
