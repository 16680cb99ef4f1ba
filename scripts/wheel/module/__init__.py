"""privrec: privacy in recommender systems, from Python.

The program is inside this package; nothing else is needed.

    import privrec
    privrec.run(["train", "ease", "--set", "data.name=standin-tiny", "--set", "data.recipe=rdpgcf"])
    privrec.evaluate(recs, truth, train=train, definition="recbole")
    privrec.attack_exposure(recs, train)
    privrec.account("events.yaml", max_epsilon=3)
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

__all__ = [
    "Error", "account", "attack_attribute", "attack_exposure", "attack_membership", "binary", "evaluate", "import_vectors", "run",
]

Path = Union[str, "os.PathLike[str]"]
Table = Any  # a data frame of pandas or polars, a table of pyarrow, or a path
Result = Optional[dict]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return importlib.metadata.version("privrec")
    raise AttributeError(f"module 'privrec' has no attribute {name!r}")


class Error(RuntimeError):
    """A command that failed: its exit code, its message and its hint.

    Codes: 1 failed, 2 usage or configuration, 3 data, 4 privacy budget or noise check,
    negative where a signal ended it.
    """

    def __init__(self, code: int, message: str, hint: str = ""):
        super().__init__(code, message, hint)
        self.code, self.message, self.hint = code, message, hint
        self.result: Result = None  # what the command printed before it failed

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


def binary() -> str:
    """The path of the program."""
    return str(pathlib.Path(__file__).parent / "bin" / ("privrec.exe" if os.name == "nt" else "privrec"))


def run(args: Iterable[Any], *, progress: bool = True) -> Result:
    """Runs a command, shows its progress on sys.stderr and returns its result as parsed JSON.

    args are those of the command line, without "privrec"; --json is added. The result is
    None where the command printed nothing. A command that fails raises Error; where it had
    an answer, as an account that is not good enough has, that is the error's result.
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
        raise _error(p.returncode, said, out)
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


def _error(code, said, out=b""):
    """Makes the exception of what a command printed and said last."""
    parts = {"error:": [], "also:": [], "hint:": []}
    for word, _, rest in (line.strip().partition(" ") for line in said):
        if word in parts:
            parts[word].append(rest)
    message = "; ".join(parts["error:"] + parts["also:"])
    e = Error(code, message or f"privrec ended with exit code {code}", " ".join(parts["hint:"]))
    with contextlib.suppress(ValueError):
        e.result = json.loads(out) if out.strip() else None
    return e


def evaluate(
    recs: Table, truth: Table, train: Optional[Table] = None, definition: Optional[str] = None, *,
    k: Union[int, Sequence[int], None] = None, progress: bool = False,
) -> Result:
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
                args += [f"--{name}", _file(table, os.path.join(folder, name), name)]
        if definition is not None:
            args += ["--definition", definition]
        if k is not None:
            args += ["--k", ",".join(map(str, [k] if isinstance(k, int) else k))]
        return run(args, progress=progress)


def attack_exposure(recs: Table, train: Table, *, out: Optional[Path] = None, settings: Mapping[str, Any] = {}, progress: bool = False) -> Result:
    """Guesses what users did last from what they are recommended, and returns the attack's numbers.

    recs and train are as in evaluate; train in the order of time, or with a column timestamp.
    out is the directory of the run, which is kept; settings are keys of the configuration.
    """
    return _attack("exposure", {"recs": recs, "train": train}, [], out, settings, progress)


def attack_membership(
    recs: Table, train: Table, non_members: Table, *, level: str = "interaction", out: Optional[Path] = None,
    settings: Mapping[str, Any] = {}, progress: bool = False,
) -> Result:
    """Tells rows, or users, that a model was trained on from others, and returns the attack's numbers.

    non_members are rows that the model was not trained on. level is interaction or user.
    """
    return _attack("membership", {"recs": recs, "train": train, "non-members": non_members}, ["--level", level], out, settings, progress)


def attack_attribute(
    recs: Table, train: Table, attributes: Table, names: Mapping[str, Sequence[float]], *, out: Optional[Path] = None,
    settings: Mapping[str, Any] = {}, progress: bool = False,
) -> Result:
    """Predicts attributes of users from what they had and were recommended, and returns the attack's numbers.

    attributes has user_id and a column an attribute. names are those that are predicted, each with
    the borders of its classes where it is a number, and with none where it is a category.
    """
    wanted = [{"name": n, "bands": list(b)} if b else {"name": n} for n, b in names.items()]
    return _attack("attribute", {"recs": recs, "train": train, "attributes": attributes}, ["--set", "attributes=" + json.dumps(wanted)], out, settings, progress)


def _attack(kind, tables, args, out, settings, progress):
    """Runs an attack on lists that another program's model gave."""
    with tempfile.TemporaryDirectory(prefix="privrec-") as folder:
        args = ["attack", kind, *args, "--out", out or os.path.join(folder, "run")]
        for name, table in tables.items():
            args += [f"--{name}", _file(table, os.path.join(folder, name), name)]
        for key, value in settings.items():
            args += ["--set", f"{key}={json.dumps(value)}"]
        return run(args, progress=progress)


def account(
    events: Union[Path, Mapping[str, Any]], *, delta: Optional[float] = None, max_epsilon: Optional[float] = None, strict: bool = False,
) -> Result:
    """Accounts for releases, and returns epsilon, its bracket, what does not fit and what is not said.

    events is a file of events of another program, their content as a dict, or the ledger or the directory
    of a run. Where epsilon is above max_epsilon, or with strict where something is open, assumed or does
    not fit, it raises Error with code 4, whose result is the account.
    """
    with tempfile.TemporaryDirectory(prefix="privrec-") as folder:
        if isinstance(events, Mapping):
            path = os.path.join(folder, "events.yaml")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(events, f)  # which is YAML
        else:
            path = os.fspath(events)
        ledger = os.path.isdir(path) or os.path.basename(path).endswith("ledger.jsonl")
        args = ["account", "ledger" if ledger else "events", path]
        if delta is not None:
            args += ["--delta", repr(float(delta))]
        if max_epsilon is not None:
            args += ["--max-epsilon", repr(float(max_epsilon))]
        return run(args + ["--strict"] * strict, progress=False)


def import_vectors(
    users: Any, items: Any, train: Table, out: Path, *, user_ids: Optional[Sequence[Any]] = None, item_ids: Optional[Sequence[Any]] = None,
    truth: Optional[Table] = None, non_members: Optional[Table] = None, name: Optional[str] = None, score: str = "inner", progress: bool = False,
) -> Result:
    """Makes a run of the vectors of another program's model in the directory out, and returns its numbers.

    users and items are arrays of a row each, or paths of .npy files; their rows are those of user_ids and
    item_ids, or of the numbers from 0. Every command works on the run: run(["recommend", out, "--user", "7"]).
    """
    with tempfile.TemporaryDirectory(prefix="privrec-") as folder:
        args = ["import", "vectors", "--out", out, "--score", score]
        paths = [_array(a, os.path.join(folder, side + ".npy")) for a, side in ((users, "users"), (items, "items"))]
        args += ["--vectors", ",".join(paths)]
        if user_ids is None and item_ids is None:
            args += ["--row-numbers"]
        elif user_ids is None or item_ids is None:
            raise TypeError("user_ids and item_ids: want both or none")
        else:
            args += ["--ids", ",".join(_lines(ids, os.path.join(folder, side + ".txt")) for ids, side in ((user_ids, "users"), (item_ids, "items")))]
        for flag, table in (("train", train), ("truth", truth), ("non-members", non_members)):
            if table is not None:
                args += [f"--{flag}", _file(table, os.path.join(folder, flag), flag)]
        if name is not None:
            args += ["--name", name]
        return run(args, progress=progress)


def _array(array, path):
    """Returns the path of an array, written to path unless it is a path itself."""
    if isinstance(array, (str, os.PathLike)):
        return os.fspath(array)
    import numpy

    numpy.save(path, numpy.asarray(array))
    return path


def _lines(ids, path):
    """Writes ids to path, one a line."""
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{i}\n" for i in ids)
    return path


def _file(table, path, name):
    """Returns the path of a table, written to path and an ending unless it is a path itself."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    text = name == "attributes"  # which are read as text
    path += ".csv" if text else ".parquet"
    if hasattr(table, "write_parquet"):  # polars
        table.write_csv(path) if text else table.write_parquet(path)
    elif hasattr(table, "to_parquet"):  # pandas
        table.to_csv(path, index=False) if text else table.to_parquet(path, index=False)
    elif hasattr(table, "schema") and hasattr(table, "to_batches"):  # pyarrow
        import pyarrow.csv
        import pyarrow.parquet

        pyarrow.csv.write_csv(table, path) if text else pyarrow.parquet.write_table(table, path)
    else:
        raise TypeError(f"{name}: want a data frame or a path, not {type(table).__name__}")
    return path
