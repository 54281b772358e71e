"""Is this text there already, perhaps edited?"""

import psycopg

with psycopg.connect() as conn:
    conn.execute(
        "CREATE TABLE articles (id int PRIMARY KEY, body text,"
        " sig signature GENERATED ALWAYS AS (shingles(body)) STORED)"
    )
    conn.execute("CREATE INDEX ON articles USING neardup (sig)")
    conn.execute("INSERT INTO articles VALUES (1, 'The pool stays closed until Friday.')")
    found = conn.execute(
        "SELECT id, similarity(sig, new) FROM articles, shingles(%s) AS new"
        " WHERE near_duplicate(sig, new, 0.7)",
        ("the pool stays closed until Friday",),
    )
    print(found.fetchall())
    conn.rollback()

# Prints:
# [(1, 1.0)]
