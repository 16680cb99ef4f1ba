"""Closed forms of the mechanisms' laws in 60-digit arithmetic: writes laws.json.

Every value is a sum, an integral or a formula of its own, not the Go code's:
    python3 laws.py > laws.json      (mpmath 1.3.0)
"""
import json

from mpmath import mp, mpf, exp, expm1, sqrt, log, tanh, erfc, nsum, inf, quad, linspace

mp.dps = 60
rows = []


def row(fn, value, tol=1e-12, **params):
    rows.append({"fn": fn, "params": params, "value": float(value), "rel_tol": tol, "abs_tol": 0.0})


def theta(sigma, weight, most=None):
    """sum over the integers of weight(k) exp(-k^2/(2 sigma^2)), plainly."""
    n = int(16 * sigma) + 40
    return sum(weight(k) * exp(-mpf(k) ** 2 / (2 * sigma**2)) for k in range(-n, n + 1))


for s in ["0.03", "0.11", "0.25", "0.5", "0.75", "0.9999", "1", "1.0001", "1.7", "3", "11.25", "64"]:
    sigma = mpf(float(s))
    z = theta(sigma, lambda k: 1)
    row("DiscreteGaussianZ", z, sigma=float(s))
    for k in [0, 1, 2, 5]:
        p = exp(-mpf(k) ** 2 / (2 * sigma**2)) / z
        if p > mpf("1e-290"):
            row("DiscreteGaussianPMF", p, 1e-11, sigma=float(s), k=k)
    for t in [-2, -0.5, 0.125, 0.375]:
        if t * 2 < 1:
            wide = sigma / sqrt(1 - 2 * mpf(t))
            row("LogSquares", log(theta(wide, lambda k: 1) / z), 1e-10, sigma=float(s), t=t)
for eps in [1e-6, 0.01, 0.3, 0.61, 0.62, 1.0, 2.5, 6.0, 20.0, 60.0]:
    e = mpf(eps)
    h = exp(e / 2)
    c = (h + 1) / (h - 1)
    row("PiecewiseC", c, eps=eps)
    row("PiecewiseCentre", h / (h + 1), eps=eps)
    for x in [-1.0, -0.4, 0.0, 0.75, 1.0]:
        left = (c + 1) / 2 * mpf(x) - (c - 1) / 2
        right = left + c - 1
        inside, outside = h / (h + 1) / (c - 1), 1 / (h + 1) / (c + 1)
        row("PiecewiseInside", inside, eps=eps, x=x)
        row("PiecewiseOutside", outside, eps=eps, x=x)
        second = lambda a, b: (b**3 - a**3) / 3  # integral of y^2
        v = inside * second(left, right) + outside * (second(-c, left) + second(right, c)) - mpf(x) ** 2
        row("PiecewiseVariance", v, 1e-11, eps=eps, x=x)
    row("EdgeFlip", 1 / (exp(e) + 1), eps=eps)
    for k in [2, 3, 50, 10**6, 2**31]:
        row("Keep", exp(e) / (exp(e) + k - 1), eps=eps, k=k)
        row("Other", 1 / (exp(e) + k - 1), eps=eps, k=k)
    for q, name in [(1 / (h + 1), "sue"), (1 / (exp(e) + 1), "oue")]:
        p = mpf(1) / 2 if name == "oue" else h / (h + 1)
        row("OracleGap", p - q, eps=eps, oracle=name, k=4)
        for f in [0.0, 0.2, 1.0]:
            v = (f * p * (1 - p) + (1 - mpf(f)) * q * (1 - q)) / (100 * (p - q) ** 2)
            row("OracleVariance", v, 1e-11, eps=eps, oracle=name, k=4, f=f)
    p, q = exp(e) / (exp(e) + 3), 1 / (exp(e) + 3)
    row("OracleGap", p - q, eps=eps, oracle="grr", k=4)
    for f in [0.0, 0.2, 1.0]:
        v = (f * p * (1 - p) + (1 - mpf(f)) * q * (1 - q)) / (100 * (p - q) ** 2)
        row("OracleVariance", v, 1e-11, eps=eps, oracle="grr", k=4, f=f)
for eps in [0.1, 1.0, 5.0, 30.0]:
    for items, length in [(5, 5), (40, 3), (59513, 101)]:
        for k in [0, 1, length - 1]:
            for variant, others in [("sdp-paper", items - k), ("sdp-fixed", items + length - 1 - k), ("rr", items)]:
                row("SequenceKeep", exp(mpf(eps)) / (exp(mpf(eps)) + others), eps=eps, items=items, length=length, k=k, variant=variant)
                row("SequenceReplace", others / (exp(mpf(eps)) + others), eps=eps, items=items, length=length, k=k, variant=variant)
print('{"entries": [')
print(",\n".join(json.dumps(r) for r in rows))
print("]}")
