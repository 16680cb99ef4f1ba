"""privrec: privacy in recommender systems, from Python.

The program is inside this package; nothing else is needed.

    import privrec
    privrec.run(["train", "ease", "--set", "data.name=standin-tiny", "--set", "data.recipe=rdpgcf"])
    privrec.evaluate(recs, truth, train=train, definition="recbole")
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

__all__ = ["Error", "binary", "evaluate", "run"]


class Error(RuntimeError):
    """A command that failed: its exit code, its message and its hint.

    Codes: 1 failed, 2 usage or configuration, 3 data, 4 privacy budget or noise check,
    negative where a signal ended it.
    """

    def __init__(self, code, message, hint=""):
        super().__init__(code, message, hint)
        self.code, self.message, self.hint = code, message, hint

    def __str__(self):
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


def binary():
    """The path of the program."""
    return str(pathlib.Path(__file__).parent / "bin" / ("privrec.exe" if os.name == "nt" else "privrec"))


def run(args, *, progress=True):
    """Runs a command, shows its progress on sys.stderr and returns its result as parsed JSON.

    args are those of the command line, without "privrec"; --json is added. The result is
    None where the command printed nothing. A command that fails raises Error.
    """
    args = [os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in args]
    if not any(a == "--json" or a.startswith("--json=") for a in args):
        args.append("--json")
    said = []
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([binary(), *args], stdin=none, stdout=pipe, stderr=pipe) as p:
        reader = threading.Thread(target=_follow, args=(p.stderr, said, progress), daemon=True)
        reader.start()
        try:
            out = p.stdout.read()
            p.wait()
        except KeyboardInterrupt:  # the run saves its state before it ends
            with contextlib.suppress(ProcessLookupError):
                p.terminate() if os.name == "nt" else p.send_signal(signal.SIGINT)
            p.stdout.read()
            p.wait()
            raise
        reader.join()
    if p.returncode != 0:
        raise _error(p.returncode, said)
    return json.loads(out) if out.strip() else None


def _follow(stream, said, show):
    """Copies lines to sys.stderr as they come, and keeps them."""
    for line in stream:
        text = line.decode("utf-8", "replace")
        said.append(text)
        if show:
            with contextlib.suppress(OSError, ValueError):  # it may be closed
                sys.stderr.write(text)
                sys.stderr.flush()


def _error(code, said):
    """Makes the exception of what a command said last."""
    parts = {"error:": [], "also:": [], "hint:": []}
    for word, _, rest in (line.strip().partition(" ") for line in said):
        if word in parts:
            parts[word].append(rest)
    message = "; ".join(parts["error:"] + parts["also:"])
    return Error(code, message or f"privrec ended with exit code {code}", " ".join(parts["hint:"]))


def evaluate(recs, truth, train=None, definition=None, *, k=None, progress=False):
    """Measures lists, and returns the metrics.

    recs, truth and train are data frames of pandas or polars, tables of pyarrow, or paths. A
    frame of lists has the columns user_id and item_id, and rank or score where its rows are
    not in the order of the lists; the others have user_id and item_id. definition is privrec,
    recbole, lenskit, elliot, ranx or trec_eval; k are the cut-offs.
    """
    args = ["evaluate"]
    with tempfile.TemporaryDirectory(prefix="privrec-") as folder:
        for name, table in (("recs", recs), ("truth", truth), ("train", train)):
            if table is not None:
                args += [f"--{name}", _file(table, os.path.join(folder, name + ".parquet"), name)]
        if definition is not None:
            args += ["--definition", definition]
        if k is not None:
            args += ["--k", ",".join(map(str, [k] if isinstance(k, int) else k))]
        return run(args, progress=progress)


def _file(table, path, name):
    """Returns the path of a table, written as Parquet to path unless it is a path itself."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    if hasattr(table, "write_parquet"):  # polars
        table.write_parquet(path)
    elif hasattr(table, "to_parquet"):  # pandas
        table.to_parquet(path, index=False)
    elif hasattr(table, "schema") and hasattr(table, "to_batches"):  # pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
    else:
        raise TypeError(f"{name}: want a data frame or a path, not {type(table).__name__}")
    return path
