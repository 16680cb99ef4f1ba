"""Tests of the installed module: python3 scripts/wheel/module_test.py"""

import contextlib
import importlib.util
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import privrec

RECS = "user_id\titem_id\tscore\nann\tshoe\t0.9\nann\tlamp\t0.8\nbob\tlamp\t0.5\n"
TRUTH = "user_id\titem_id\nann\tlamp\nbob\ttent\n"


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


class Module(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.recs = write(os.path.join(self.dir, "recs.tsv"), RECS)
        self.truth = write(os.path.join(self.dir, "truth.tsv"), TRUTH)

    def test_run(self):
        self.assertIn("version", privrec.run(["version"]))
        self.assertIn("version", privrec.run(["version", "--json"]))

    def test_error(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown), self.assertRaises(privrec.Error) as caught:
            privrec.run(["train", "no-such-task"])
        e = caught.exception
        self.assertEqual(e.code, 2)
        self.assertIn("no-such-task", e.message)
        self.assertIn("error: ", shown.getvalue())
        self.assertIn(e.message, str(e))
        again = pickle.loads(pickle.dumps(e))
        self.assertEqual((again.code, again.message, str(again)), (e.code, e.message, str(e)))

    def test_data_error(self):
        missing = os.path.join(self.dir, "none.tsv")
        with self.assertRaises(privrec.Error) as caught:
            privrec.evaluate(self.recs, missing)
        self.assertIn(caught.exception.code, (2, 3))
        self.assertIn("none.tsv", caught.exception.message)

    def test_progress(self):
        out = os.path.join(self.dir, "run")
        args = ["train", "ease", "--set", "data.name=standin-tiny", "--set", "data.recipe=rdpgcf", "--out", out]
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            result = privrec.run(args)
        self.assertTrue(result)
        self.assertTrue(shown.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as quiet:
            privrec.run(args[:-1] + [out + "2"], progress=False)
        self.assertEqual(quiet.getvalue(), "")

    def test_evaluate_paths(self):
        got = privrec.evaluate(self.recs, self.truth, definition="recbole", k=1)
        self.assertEqual(got, privrec.run(["evaluate", "--recs", self.recs, "--truth", self.truth, "--definition", "recbole", "--k", "1"]))
        self.assertNotEqual(got, privrec.evaluate(self.recs, self.truth, k=[2]))

    def test_evaluate_frames(self):
        want = privrec.evaluate(self.recs, self.truth, train=self.truth, k=[1, 2])
        for name, read in (("pandas", "read_csv"), ("polars", "read_csv")):
            if importlib.util.find_spec(name) is None or importlib.util.find_spec("pyarrow") is None:
                continue
            module = importlib.import_module(name)
            sep = {"pandas": "sep", "polars": "separator"}[name]
            recs, truth = (getattr(module, read)(p, **{sep: "\t"}) for p in (self.recs, self.truth))
            with self.subTest(name):
                got = privrec.evaluate(recs, truth, train=truth, k=[1, 2])
                self.assertEqual(got["tables"], want["tables"])

    def lists(self):
        """Lists, rows of training and of non-members, and attributes of 40 users."""
        users = [f"u{u}" for u in range(40)]
        had = {u: [f"i{(k * 3 + int(u[1:])) % 17}" for k in range(5)] for u in users}
        table = lambda rows: "".join("\t".join(map(str, r)) + "\n" for r in rows)
        files = {
            "recs": table([("user_id", "item_id", "rank")] + [(u, f"i{(int(u[1:]) + r * 5) % 17}", r + 1) for u in users for r in range(3)]),
            "train": table([("user_id", "item_id")] + [(u, i) for u in users for i in had[u]]),
            "others": table([("user_id", "item_id")] + [(u, i) for u in users for i in [f"i{k}" for k in range(17)] if i not in had[u]][:80]),
            "attributes": table([("user_id", "gender")] + [(u, "FM"[int(u[1:]) % 2]) for u in users]),
        }
        return {name: write(os.path.join(self.dir, name + ".tsv"), text) for name, text in files.items()}

    def test_attacks(self):
        f = self.lists()
        for got in (
            privrec.attack_membership(f["recs"], f["train"], f["others"], settings={"attack.k": 3}),
            privrec.attack_attribute(f["recs"], f["train"], f["attributes"], {"gender": ()}, settings={"attack.k": [2], "attack.attackers": ["logistic-regression"]}),
        ):
            self.assertTrue(got["tables"])
        out = os.path.join(self.dir, "kept")
        self.assertTrue(privrec.attack_membership(f["recs"], f["train"], f["others"], out=out, settings={"attack.k": 3})["tables"])
        self.assertTrue(os.path.exists(os.path.join(out, "metrics.json")))
        with self.assertRaises(privrec.Error) as caught:
            privrec.attack_exposure(f["recs"], f["train"], settings={"no.key": 1})
        self.assertEqual(caught.exception.code, 2)

    def test_account(self):
        events = {"privrec_events": 1, "unit": "user", "delta": 1e-6, "events": [{"mechanism": "laplace", "scale": 4, "sensitivity": 1}]}
        self.assertAlmostEqual(privrec.account(events)["epsilon"], 0.25, 4)
        self.assertLess(privrec.account(events, max_epsilon=0.25, strict=True)["epsilon"], 0.2500001)
        with self.assertRaises(privrec.Error) as caught:
            privrec.account(events, max_epsilon=0.1)
        self.assertEqual(caught.exception.code, 4)
        self.assertAlmostEqual(caught.exception.result["epsilon"], 0.25, 4)
        path = write(os.path.join(self.dir, "events.yaml"), json.dumps(events))
        self.assertEqual(privrec.account(path)["epsilon"], privrec.account(events)["epsilon"])

    def test_import_vectors(self):
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("numpy is not installed")
        f, out = self.lists(), os.path.join(self.dir, "vectors")
        users = [[1.0 + u % 3, u % 5] for u in range(40)]
        items = [[k % 4, 1.0 + k % 7] for k in range(17)]
        got = privrec.import_vectors(users, items, f["train"], out, user_ids=[f"u{u}" for u in range(40)], item_ids=[f"i{k}" for k in range(17)], truth=f["others"], name="ours")
        self.assertTrue(got["tables"])
        self.assertTrue(privrec.run(["recommend", out, "--user", "u3", "--k", "2"]))
        with self.assertRaises(TypeError):
            privrec.import_vectors(users, items, f["train"], out + "2", user_ids=["a"])

    def test_version(self):
        self.assertRegex(privrec.__version__, r"^\d")
        with self.assertRaises(AttributeError):
            privrec.no_such_name

    def test_evaluate_neither(self):
        with self.assertRaises(TypeError):
            privrec.evaluate([1, 2], self.truth)
        self.assertFalse({"pandas", "polars", "pyarrow"} & set(fresh("import privrec, sys; print(*sys.modules)").split()))

    def test_command(self):
        here = subprocess.run([privrec.binary(), "version"], stdout=subprocess.PIPE, check=True).stdout
        command = subprocess.run([sys.executable, "-m", "privrec", "version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(here, command)
        code = subprocess.run([sys.executable, "-m", "privrec", "train", "x"], stderr=subprocess.PIPE).returncode
        self.assertEqual(code, 2)


def fresh(code):
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode()


if __name__ == "__main__":
    unittest.main()
