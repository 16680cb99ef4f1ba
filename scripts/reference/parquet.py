"""Small Parquet files as pandas, polars and Arrow write them, for the tests of internal/lists.

    python scripts/reference/parquet.py internal/lists/testdata/parquet

Every file that is read has the same 3,000 rows: user u of 100 has items u, u+1, ... with scores that fall by rank. Needs
pandas, pyarrow, polars and fastparquet.
"""
import os
import sys

import pandas
import polars
import pyarrow
import pyarrow.parquet

folder = sys.argv[1]
rows = {
    "user_id": [u for u in range(100) for _ in range(30)],
    "item_id": [u + r for u in range(100) for r in range(30)],
    "rank": [r + 1 for _ in range(100) for r in range(30)],
    "score": [1 - (r + 1) / 64 for _ in range(100) for r in range(30)],
}
frame = pandas.DataFrame(rows)
text = frame.assign(user_id=frame.user_id.astype(str), item_id=frame.item_id.astype(str))
table = pyarrow.Table.from_pandas(text, preserve_index=False)


def at(name):
    return os.path.join(folder, name + ".parquet")


frame.to_parquet(at("pandas"))
frame.set_index("rank").to_parquet(at("pandas-index"))
text.to_parquet(at("pandas-text"), compression="gzip")
text.assign(item_id=text.item_id.astype("category")).to_parquet(at("pandas-category"), compression="zstd")
frame.astype({"user_id": "uint32", "item_id": "int16", "rank": "float64", "score": "float32"}).to_parquet(at("pandas-narrow"), compression=None)
text.to_parquet(at("fastparquet"), engine="fastparquet")
polars.DataFrame(rows).write_parquet(at("polars"))
polars.DataFrame(rows).with_columns(polars.col("user_id").cast(polars.String)).write_parquet(at("polars-text"), compression="snappy")
pyarrow.parquet.write_table(table, at("arrow-groups"), row_group_size=700, data_page_size=512)
pyarrow.parquet.write_table(table, at("arrow-plain"), use_dictionary=False, compression="snappy")
pyarrow.parquet.write_table(table, at("arrow-v2"), data_page_version="2.0", compression="zstd")

# What is refused.
pyarrow.parquet.write_table(table, at("bad-brotli"), compression="brotli")
pyarrow.parquet.write_table(table, at("bad-delta"), use_dictionary=False, column_encoding={"item_id": "DELTA_BYTE_ARRAY"})
frame.assign(user_id=frame.user_id.astype("float64")).to_parquet(at("bad-float-ids"))
frame.assign(score=frame.score.where(frame.index != 41)).to_parquet(at("bad-null"))
polars.DataFrame({**rows, "score": [float("nan") if k == 41 else s for k, s in enumerate(rows["score"])]}).write_parquet(at("bad-nan"))
frame.assign(item_id=pandas.to_datetime(frame.item_id)).to_parquet(at("bad-time"))
frame.drop(columns="item_id").to_parquet(at("bad-column"))
constant = pyarrow.array(["x"]).take(pyarrow.array([0] * 20_000_000, type=pyarrow.int8()))
pyarrow.parquet.write_table(pyarrow.table({"user_id": constant, "item_id": constant}), at("bad-bomb"), row_group_size=10**6)
