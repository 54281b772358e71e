"""Pairs and groups of embeddings: an array of numpy to a column of real[], by binary COPY."""

import numpy
import psycopg

vectors = numpy.array([[0.3, 0.7, 0.1], [0.29, 0.72, 0.1], [0.9, 0.0, 0.1]])  # a model's
with psycopg.connect() as conn:
    conn.execute("CREATE TEMPORARY TABLE vectors (id int, embedding real[])")
    with conn.cursor().copy("COPY vectors FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int4", "float4[]"])
        for row in enumerate(vectors.tolist()):
            copy.write_row(row)
    pairs = conn.execute(
        "SELECT a.id, b.id FROM vectors a JOIN vectors b"
        " ON near_duplicate(dense(a.embedding), dense(b.embedding), 0.9, 'cosine') AND a.id < b.id"
    )
    print(pairs.fetchall())
    groups = conn.execute(
        "SELECT id, representative FROM near_duplicate_groups("
        " 'SELECT id, dense(embedding) FROM vectors', 0.9, 'cosine')"
    )
    print(groups.fetchall())
    # a list of Python is double precision[]: cast it
    near = conn.execute(
        "SELECT id FROM vectors WHERE near_duplicate(dense(embedding), dense(%s::real[]), 0.9, 'cosine')",
        (vectors[2].tolist(),),
    )
    print(near.fetchall())
    conn.rollback()

# Prints:
# [(0, 1)]
# [(0, 0), (1, 0), (2, 2)]
# [(2,)]
