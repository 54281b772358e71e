"""Groups of a lazy frame of polars, joined to its rows."""

import polars

from neardup.frames import groups

frame = polars.LazyFrame({"body": ["one and two and three", "one, and two, and three", "four"]})
found = groups(frame, k=1, conn="")
rows = frame.with_row_index("row").with_columns(polars.col("row").cast(polars.Int64)).collect()
print(rows.join(found, on="row").select("body", "group", "size").rows())

# Prints:
# [('one and two and three', 1, 2), ('one, and two, and three', 1, 2), ('four', 2, 1)]
