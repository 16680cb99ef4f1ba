"""Write the risk of 1000 random DP-SGD settings as riskcal computes it.

    pip install riskcal==1.5.1
    python scripts/riskcal-goldens.py > internal/privacy/accountant/testdata/riskcal.json

Each row is [sampling rate, noise multiplier, steps, true positive rate at false
positive rates 0.001, 0.01 and 0.1, advantage], on riskcal's own mesh.
"""

import json
import random
from importlib.metadata import version
from multiprocessing import Pool

from riskcal.accountants import CTDAccountant
from riskcal.analysis import get_advantage_from_pld, get_beta_from_pld


def settings():
    random.seed(20)
    rows = []
    while len(rows) < 1000:
        rate = 1.0 if random.random() < 0.1 else float(f"{10 ** random.uniform(-3, -0.1):.4g}")
        noise = float(f"{10 ** random.uniform(-0.15, 1):.4g}")
        steps = int(10 ** random.uniform(0, 3.5))
        if rate * steps**0.5 / noise <= 8:  # beyond, everything is known
            rows.append((rate, noise, steps))
    return rows


def risk(setting):
    rate, noise, steps = setting
    account = CTDAccountant()
    account.history = [(noise, rate, steps)]
    pld = account.get_pld()
    numbers = [1 - float(get_beta_from_pld(pld, a)) for a in (0.001, 0.01, 0.1)]
    numbers.append(float(get_advantage_from_pld(pld)))
    return json.dumps([rate, noise, steps] + [float(f"{v:.6g}") for v in numbers])


if __name__ == "__main__":
    with Pool(2) as pool:
        rows = list(pool.imap(risk, settings()))
    print('{"riskcal": "%s", "dp_accounting": "%s", "rows": [' % (version("riskcal"), version("dp-accounting")))
    print(",\n".join(rows))
    print("]}")
