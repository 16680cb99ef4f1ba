"""What the PyTorch programs of this folder share: read by them, run by none.

PEER_FORM says how a program runs. `installed` is PyTorch as its package leaves it, with the foreach form of
Adam. `tuned` has the fused form, where PyTorch has it on a CPU; compare.py adds memory settings. `compile` is
tuned, with the network and its loss through torch.compile. Threads: NT (default 2).
"""
import json, os, resource, time, warnings
import numpy as np
import torch

warnings.filterwarnings("ignore")
FORM = os.environ.get("PEER_FORM", "installed")
THREADS = int(os.environ.get("NT", "2"))
torch.set_num_threads(THREADS)
torch.manual_seed(0)


def adam(params, **options):
    """Dense Adam, in the fastest form that FORM allows."""
    params = list(params)
    if FORM != "installed":
        try:
            return torch.optim.Adam(params, fused=True, **options)
        except (RuntimeError, TypeError):  # 1.13 has it on GPUs only
            pass
    return torch.optim.Adam(params, foreach=True, **options)


def compiled(f):
    """f, through torch.compile where FORM asks for it."""
    return torch.compile(f) if FORM == "compile" else f


def fixed(shape, p, width):
    """The weights of fillFixed in internal/bench/fixed.go, of parameter p."""
    x = np.arange(int(np.prod(shape))) * ((1 + 5 ** 0.5) / 2 - 1) + p / 10
    return torch.from_numpy((width * (x - np.floor(x)) - width / 2).astype(np.float32)).view(*shape)


def fill(params, width):
    """Gives parameters their fixed weights, and returns what puts the old ones back."""
    params = list(params)
    saved = [p.detach().clone() for p in params]
    with torch.no_grad():
        for k, p in enumerate(params):
            p.copy_(fixed(p.shape, k, width))

    def back():
        with torch.no_grad():
            for p, v in zip(params, saved):
                p.copy_(v)
    return back


def measure(step, name, shape, seconds, warm=3, least=5):
    """Times step, and prints one JSON object: seconds a call, memory, graph breaks of torch.compile."""
    for _ in range(warm):
        step()
    times, begin = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < seconds:
        t = time.perf_counter()
        step()
        times.append(time.perf_counter() - t)
    times.sort()
    out = {"name": f"{name}_torch_{torch.__version__}", "shape": shape, "threads": THREADS, "median_s": times[len(times) // 2],
           "min_s": times[0], "gflops": 0, "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    if FORM == "compile":
        from torch._dynamo.utils import counters
        out["graph_breaks"] = sum(counters["graph_break"].values())
    print(json.dumps(out))
