"""Writes the samples of this directory that data tools make. See README.md.

The history is the same in all of them, unless a comment says otherwise: a queue, in which the last dequeue returns a
value that was never enqueued.
"""

import datetime

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

PROCESS = [0, 1, 0, 1, 2]
F = ["enqueue", "enqueue", "dequeue", "dequeue", "dequeue"]
TEXT = ["apple", "pêche", None, None, None]
TEXTS = [None, None, "apple", "pêche", "plum"]
NUMBER = [1, 2, None, None, None]
NUMBERS = [None, None, 1, 2, 3]
CALL = [10, 11, 30, 31, 50]
RETURN = [20, 21, 40, 41, 60]


def table(value, result, **others):
    columns = {"process": PROCESS, "f": F, "value": value, "result": result, "call": CALL, "return": RETURN}
    return pyarrow.table({**columns, **others})


plain = table(TEXT, TEXTS)
numbers = table(NUMBER, NUMBERS)
coded = plain
for name in ["f", "value", "result"]:
    at = coded.schema.get_field_index(name)
    coded = coded.set_column(at, name, coded[name].dictionary_encode())
# Each value is a list.
lists = table(
    pyarrow.array([[1, 2], [3], None, None, None], pyarrow.list_(pyarrow.int64())),
    pyarrow.array([None, None, [1, 2], [3], [4]], pyarrow.list_(pyarrow.int64())),
)
start = datetime.datetime(2026, 1, 31, 8, 15, tzinfo=datetime.timezone.utc)
times = {
    name: [start + datetime.timedelta(milliseconds=time) for time in values]
    for name, values in [("call", CALL), ("return", RETURN)]
}

# Parquet.
pyarrow.parquet.write_table(plain, "pyarrow-snappy.parquet")
pyarrow.parquet.write_table(coded, "pyarrow-zstd.parquet", compression="zstd", data_page_version="2.0")
pyarrow.parquet.write_table(lists, "pyarrow-lists.parquet", compression="gzip")
pyarrow.parquet.write_table(
    numbers,
    "pyarrow-deltas.parquet",
    compression="lz4",
    use_dictionary=False,
    column_encoding={
        "process": "PLAIN",
        "f": "DELTA_BYTE_ARRAY",
        "value": "DELTA_BINARY_PACKED",
        "result": "PLAIN",
        "call": "DELTA_BINARY_PACKED",
        "return": "PLAIN",
    },
)
frame = pandas.DataFrame({"process": PROCESS, "f": pandas.Categorical(F), "call": times["call"]})
frame["return"] = times["return"]
frame["value"] = pandas.array(NUMBER, dtype="Int64")
frame["result"] = pandas.array(NUMBERS, dtype="Int64")
# A column that is not part of the history.
frame["latency"] = [0.1, 0.2, 0.3, 0.4, 0.5]
frame.to_parquet("pandas.parquet")
frame.to_parquet("pandas-zstd.parquet", compression="zstd")
bears = polars.from_pandas(frame).with_columns(polars.col("process").cast(polars.UInt32))
bears.write_parquet("polars.parquet")
duckdb.sql("CREATE TABLE history AS SELECT * FROM plain")
duckdb.sql("COPY history TO 'duckdb.parquet' (FORMAT parquet)")
duckdb.sql("COPY history TO 'duckdb-zstd.parquet' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)")

# Arrow IPC.
pyarrow.feather.write_feather(plain, "pyarrow.feather")
frame.to_feather("pandas.feather", compression="zstd")
with pyarrow.ipc.new_file("pyarrow-dictionary.arrow", coded.schema) as file:
    file.write_table(coded)
with pyarrow.ipc.new_stream("pyarrow-lists.arrow", lists.schema) as stream:
    for batch in lists.to_batches(max_chunksize=2):
        stream.write_batch(batch)
bears.write_ipc("polars.arrow", compression="zstd")
polars.from_arrow(plain).write_ipc("polars-views.arrow", compression="lz4", compat_level=polars.CompatLevel.newest())
# The columns are those of another program, and need a mapping.
strange = pyarrow.table(
    {
        "client": pyarrow.array(["ann", "bob", "ann", "bob", "eve"], pyarrow.large_string()),
        "request": [{"op": f, "args": None if value is None else [value]} for f, value in zip(F, NUMBER)],
        "answer": pyarrow.array(NUMBERS, pyarrow.uint8()),
        "start": pyarrow.array(times["call"], pyarrow.timestamp("us", "UTC")),
        "took": pyarrow.array([10_000] * 5, pyarrow.duration("us")),
        "ok": [True] * 5,
        "none": pyarrow.nulls(5),
        "ratio": pyarrow.array([0.5] * 5, pyarrow.float32()),
    }
)
with pyarrow.ipc.new_file(
    "pyarrow-structs.arrow", strange.schema, options=pyarrow.ipc.IpcWriteOptions(compression="zstd")
) as file:
    file.write_table(strange)
pyarrow.parquet.write_table(strange.drop_columns(["took"]).append_column("end", pyarrow.array(times["return"])), "pyarrow-structs.parquet")
# A column of a type that is not supported.
odd = plain.append_column("odd", pyarrow.UnionArray.from_sparse(pyarrow.array([0] * 5, pyarrow.int8()), [pyarrow.array(NUMBER)]))
with pyarrow.ipc.new_file("pyarrow-union.arrow", odd.schema) as file:
    file.write_table(odd)
with pyarrow.ipc.new_file("pyarrow-union-value.arrow", pyarrow.schema([*plain.schema.remove(2), odd.schema.field("odd").with_name("value")])) as file:
    file.write_table(plain.drop_columns(["value"]).append_column("value", odd["odd"]))

# Comma- and tab-separated values.
frame.to_csv("pandas.csv", index=False)
polars.from_arrow(plain).write_csv("polars.tsv", separator="\t")
duckdb.sql("COPY history TO 'duckdb.csv' (HEADER, DELIMITER ';')")
pyarrow.csv.write_csv(plain, "pyarrow.csv")

for tool in [pyarrow, pandas, polars, duckdb]:
    print(tool.__name__, tool.__version__)
