#!/usr/bin/env python3
"""Values of gaussian.json: the Gaussian trade-off curve, Clopper-Pearson bounds and the
bounds on mu in 40-digit arithmetic (pip install mpmath; python3 gaussian.py > gaussian.json)."""
import json
from mpmath import mp, mpf, erfc, exp, loggamma, log, sqrt

mp.dps = 40


def phi(x):
    return erfc(-x / sqrt(2)) / 2


def quantile(p):
    """Bisection on the tail that is small; no inverse error function."""
    if p > mpf(1) / 2:
        return -quantile(1 - p)
    lo, hi = mpf(-60), mpf(0)
    for _ in range(135):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if phi(mid) < p else (lo, mid)
    return lo


def curve(mu, x):
    return phi(quantile(x) - mu)


def tail(k, n, p):
    """P[Bin(n, p) >= k] from the masses, which fall from k on where p is below k/n."""
    q = 1 - p
    term = exp(loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1) + k * log(p) + ((n - k) * log(q) if k < n else 0))
    total = term
    while k < n and term > total * mpf("1e-35"):
        term *= p / q * (n - k) / (k + 1)
        k += 1
        total += term
    return total


def lower(k, n, level):
    """p with P[Bin(n, p) >= k] = level, by bisection in log p below log k/n."""
    if k == 0:
        return mpf(0)
    lo, hi = mpf(-800), log(mpf(k) / n)
    for _ in range(115):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if tail(k, n, exp(mid)) < level else (lo, mid)
    return exp(lo)


def two_run_mu(tp, n1, fp, n0, level):
    fnr = 1 - lower(tp, n1, level / 2)
    fpr = 1 - lower(n0 - fp, n0, level / 2)
    return max(mpf(0), -quantile(fpr) - quantile(fnr))


def rejects(m, n, v, mu, level):
    """Algorithm 3 of Mahloujifar et al., whose printed loop is over arrays."""
    r, h = level * v / m, level * (n - v) / m
    for i in range(v - 1, -1, -1):
        y = max(h, curve(mu, r))
        r, h = r + mpf(i) / (n - i) * (y - h), y
    return r + h > mpf(n) / m


def one_run_mu(m, n, v, level):
    lo, hi = mpf(0), mpf(16)
    if not rejects(m, n, v, lo, level):
        return lo
    for _ in range(46):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if rejects(m, n, v, mid, level) else (lo, mid)
    return lo


rows = []


def row(fn, value, **params):
    rows.append({"fn": fn, "params": params, "value": float(value)})


for mu in (0, 1e-6, 0.5, 3, 12, 37):
    for x in (1e-300, 1e-40, 1e-9, 0.3, 0.5, 0.999, 0.9999999999):
        value = curve(mpf(mu), mpf(x))
        if value > mpf("1e-300"):
            row("curve", value, mu=mu, x=x)
for k, n in ((1, 1), (1, 10**6), (10**6, 10**6), (37, 100), (99, 100), (3, 2**31), (50000, 10**5)):
    for level in (0.4, 0.025, 1e-12):
        row("lower", lower(k, n, mpf(level)), k=k, n=n, level=level)
for tp, n1, fp, n0 in ((500, 500, 0, 500), (300, 500, 200, 500), (10, 1000, 0, 1000), (260, 500, 250, 500), (1, 1, 0, 1), (99990, 100000, 3, 100000)):
    for level in (0.3, 0.05, 1e-9):
        row("two-run mu", two_run_mu(tp, n1, fp, n0, mpf(level)), tp=tp, n_pos=n1, fp=fp, n_neg=n0, level=level)
for m, n, v in ((1, 1, 1), (20, 20, 17), (100, 10, 10), (30, 30, 15), (1000, 40, 36)):
    for level in (0.3, 0.05, 1e-6):
        row("one-run mu", one_run_mu(m, n, v, mpf(level)), m=m, r=n, v=v, level=level)
print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
