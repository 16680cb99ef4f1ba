"""Small files of vectors as NumPy, safetensors, pandas, polars and Arrow write them, for the tests of internal/vectors.

    python scripts/reference/vectors.py internal/vectors/testdata testdata/imported

Every file that is read has the same 12 vectors of 5 numbers: that of row r and column c is (8 r + c - 40) / 64. Ids are
u0 to u11. Needs numpy, safetensors, ml_dtypes, pandas, pyarrow and polars.
"""
import io
import os
import pickle
import sys
import zipfile

import ml_dtypes
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import safetensors.numpy

folder = sys.argv[1]
x = ((8 * np.arange(12)[:, None] + np.arange(5)[None] - 40) / 64).astype("<f4")
bias = x[:, 0].copy()
ids = [f"u{r}" for r in range(12)]
rows = [list(map(float, r)) for r in x]


def at(name):
    return os.path.join(folder, name)


for kind in ["f2", "f4", "f8"]:
    for order, letter in [("<", "little"), (">", "big")]:
        np.save(at(f"{kind}-{letter}.npy"), x.astype(order + kind))
np.save(at("fortran.npy"), np.asfortranarray(x))
for version in [(2, 0), (3, 0)]:
    with open(at(f"version{version[0]}.npy"), "wb") as f:
        np.lib.format.write_array(f, x, version=version)
np.save(at("bias.npy"), bias)
np.savez(at("stored.npz"), users=x, items=x[::-1], bias=bias)
np.savez_compressed(at("deflated.npz"), users=np.asfortranarray(x.astype("f8")), items=x[::-1], bias=bias)
safetensors.numpy.save_file({"users": x, "items": x[::-1].copy(), "bias": bias, "counts": np.arange(3)}, at("f32.safetensors"), metadata={"made": "by numpy"})
safetensors.numpy.save_file({"users": x.astype("f2")}, at("f16.safetensors"))
safetensors.numpy.save_file({"users": x.astype(ml_dtypes.bfloat16)}, at("bf16.safetensors"))
safetensors.numpy.save_file({"users": x.astype("f8")}, at("f64.safetensors"))
wide = pandas.DataFrame(x, columns=[f"d{c}" for c in range(5)])
lists = pandas.DataFrame({"user_id": ids, "vector": rows})
wide.to_parquet(at("pandas-columns.parquet"))
wide.assign(user_id=ids).to_parquet(at("pandas-ids.parquet"))
wide.set_axis(ids).to_parquet(at("pandas-index.parquet"))
lists.to_parquet(at("pandas-lists.parquet"))
polars.DataFrame({"user_id": ids, "vector": rows}, schema_overrides={"vector": polars.List(polars.Float32)}).write_parquet(at("polars-lists.parquet"))
polars.DataFrame({"user_id": ids, "vector": rows}, schema_overrides={"vector": polars.Array(polars.Float32, 5)}).write_parquet(at("polars-arrays.parquet"))
fixed = pyarrow.table({"id": ids, "vector": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(x.ravel()), 5)})
pyarrow.parquet.write_table(fixed, at("arrow-fixed.parquet"), compression="none")
pyarrow.parquet.write_table(fixed, at("arrow-pages.parquet"), data_page_size=16, write_batch_size=2, row_group_size=7, use_dictionary=False, compression="zstd", data_page_version="2.0")
with open(at("ids.txt"), "w") as f:
    f.write("".join(i + "\n" for i in ids))
with open(at("ids.tsv"), "w") as f:
    f.write("row\tuser_id:token\n" + "".join(f"{r}\t{i}\n" for r, i in enumerate(ids)))
with open(at("ids.csv"), "w") as f:
    f.write("user_id\n" + "".join(i + "\n" for i in ids))

# What is refused.
np.save(at("bad-object.npy"), np.array([[1, "a"]], dtype=object), allow_pickle=True)
np.save(at("bad-integers.npy"), x.astype("i8"))
np.save(at("bad-text.npy"), np.array([["a", "b"]]))
np.save(at("bad-records.npy"), np.array([(1.0, 2.0)], dtype=[("a", "f4"), ("b", "f4")]))
np.save(at("bad-complex.npy"), x.astype("c8"))
np.save(at("bad-long.npy"), x.astype("f16"))
np.save(at("bad-axes.npy"), x.reshape(3, 4, 5))
np.save(at("bad-flat.npy"), x.ravel())
np.save(at("bad-empty.npy"), x[:0])
for name, value in [("nan", np.nan), ("infinite", -np.inf)]:
    y = x.copy()
    y[7, 3] = value
    np.save(at(f"bad-{name}.npy"), y)
    np.save(at(f"bad-{name}-fortran.npy"), np.asfortranarray(y))
y = x.astype("f8")
y[2, 1] = 1e300
np.save(at("bad-large.npy"), y)
whole = open(at("f4-little.npy"), "rb").read()
open(at("bad-cut.npy"), "wb").write(whole[:-4])
open(at("bad-surplus.npy"), "wb").write(whole + b"\0\0\0\0")


def npy(header, data=b""):
    return b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + data


open(at("bad-claim.npy"), "wb").write(npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000), }\n"))
open(at("bad-overflow.npy"), "wb").write(npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n"))
open(at("bad-header.npy"), "wb").write(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")
open(at("bad-code.npy"), "wb").write(npy(b"{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (1, 1), }\n"))
open(at("bad-version.npy"), "wb").write(b"\x93NUMPY\x04\x00" + whole[8:])
pickle.dump({"users": rows}, open(at("bad-pickle.npy"), "wb"))
with zipfile.ZipFile(at("bad-torch.npz"), "w") as z:
    z.writestr(zipfile.ZipInfo("archive/data.pkl"), pickle.dumps(rows))
np.savez(at("bad-object.npz"), users=np.array([[1, "a"]], dtype=object))
bomb = zipfile.ZipInfo("users.npy")
bomb.compress_type = zipfile.ZIP_DEFLATED
with zipfile.ZipFile(at("bad-bomb.npz"), "w", zipfile.ZIP_DEFLATED) as z:
    with z.open(bomb, "w", force_zip64=True) as f:
        f.write(npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 256), }\n"))
        for _ in range(100):
            f.write(bytes(1024 * 1000))
with zipfile.ZipFile(at("bad-lzma.npz"), "w", zipfile.ZIP_LZMA) as z:
    z.writestr(zipfile.ZipInfo("users.npy"), whole, zipfile.ZIP_LZMA)
b = io.BytesIO()
np.savez(b, users=x)
b = bytearray(b.getvalue())
b[b.index(x.tobytes()) + 40] ^= 1
open(at("bad-damaged.npz"), "wb").write(b)
lists.assign(vector=[r[: 5 - (k == 6)] for k, r in enumerate(rows)]).to_parquet(at("bad-ragged.parquet"))
lists.assign(vector=[None if k == 6 else r for k, r in enumerate(rows)]).to_parquet(at("bad-null.parquet"))
lists.assign(vector=[[*r[:4], None] if k == 6 else r for k, r in enumerate(rows)]).to_parquet(at("bad-hole.parquet"))
nan = pyarrow.array([[*r[:4], float("nan")] if k == 6 else r for k, r in enumerate(rows)])
pyarrow.parquet.write_table(pyarrow.table({"id": ids, "vector": nan}), at("bad-nan.parquet"))
lists.assign(vector=[[int(v) for v in r] for r in rows]).to_parquet(at("bad-integers.parquet"))
lists.assign(user_id=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3]).to_parquet(at("bad-twice.parquet"))
pyarrow.parquet.write_table(pyarrow.table({"id": ids, "vector": [[{"a": 1.0, "b": 2.0}]] * 12}), at("bad-groups.parquet"))
zeros = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.zeros(40_000_000, dtype="f4")), 4000)
pyarrow.parquet.write_table(pyarrow.table({"vector": zeros}), at("bad-bomb.parquet"), row_group_size=1000)

# Vectors of the users and items of testdata/imported, where that folder is named too: noise, since bytes are frozen and
# no number of them is judged.
if len(sys.argv) > 2:
    noise = np.random.default_rng(1)
    np.savez(os.path.join(sys.argv[2], "vectors.npz"), users=noise.normal(size=(40, 4)).astype("f4"), items=noise.normal(size=(30, 4)).astype("f4"), bias=noise.normal(size=30))
    for side, n in [("users", 40), ("items", 30)]:
        with open(os.path.join(sys.argv[2], side + ".txt"), "w") as f:
            f.write("".join(f"{side[0]}{k + 1}\n" for k in range(n)))
