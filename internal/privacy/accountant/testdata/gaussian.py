"""Writes gaussian.json: the curve of mu-Gaussian-DP and its inverses in 300-digit
arithmetic (pip install mpmath; python3 gaussian.py > gaussian.json)."""
import json
import mpmath as mp

mp.mp.dps = 300


def phi(x):
    if x < -10**5:  # below exp(-5e9)
        return mp.mpf(0)
    return mp.erfc(-x / mp.sqrt(2)) / 2


def delta(mu, eps):  # Balle and Wang 2018, theorem 8
    return phi(mu / 2 - eps / mu) - mp.e**eps * phi(-mu / 2 - eps / mu)


def root(f, lo, hi, steps=130):  # f falls, f(lo) > 0 > f(hi)
    for _ in range(steps):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if f(mid) > 0 else (lo, mid)
    return hi


def text(x):
    return mp.nstr(x, 25, min_fixed=1, max_fixed=0)


rows = []
for mu in ["1e-6", "1e-3", "0.02", "0.5", "1", "2.5", "7", "40", "300"]:
    for eps in ["0", "1e-9", "1e-3", "0.3", "1", "4", "30", "500", "20000"]:
        m, e = mp.mpf(float(mu)), mp.mpf(float(eps))
        d = delta(m, e)
        if d > 0 and mp.log(d) > -1e6:
            rows.append({"fn": "LogDelta", "mu": mu, "x": eps, "value": text(mp.log(d))})
    for dl in ["1e-300", "1e-30", "1e-9", "1e-5", "0.01", "0.6"]:
        m, d = mp.mpf(float(mu)), mp.mpf(float(dl))
        if delta(m, mp.mpf(0)) > d:
            top = m * m / 2 + m * mp.sqrt(-2 * mp.log(d))
            rows.append({"fn": "Exact", "mu": mu, "x": dl, "value": text(root(lambda e: delta(m, e) - d, mp.mpf(0), top))})
for eps in ["0", "1e-6", "0.01", "1", "5", "60", "3000"]:
    for dl in ["1e-200", "1e-20", "1e-6", "0.01", "0.5"]:
        e, d = mp.mpf(float(eps)), mp.mpf(float(dl))
        inv = root(lambda y: delta(mp.exp(-y), e) - d, mp.mpf(-10), mp.mpf(500))
        rows.append({"fn": "MuFor", "mu": eps, "x": dl, "value": text(mp.exp(-inv))})
        b = mp.sqrt(-2 * mp.log(d))
        if e > 0:
            rows.append({"fn": "ClosedMu", "mu": eps, "x": dl, "value": text(-b + mp.sqrt(b * b + 2 * e))})
print(json.dumps(rows, indent=0))
