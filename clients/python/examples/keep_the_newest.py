"""Delete all but the newest of each group, and say who went for whom."""

import psycopg

ROWS = [
    (1, "2026-01-01", "Trams run every ten minutes again."),
    (2, "2026-02-01", "Trams run every ten minutes, again!"),
    (3, "2026-03-01", "The pool stays closed until Friday."),
]
with psycopg.connect() as conn:
    conn.execute("CREATE TABLE news (id int PRIMARY KEY, day date, body text)")
    conn.cursor().executemany("INSERT INTO news VALUES (%s, %s, %s)", ROWS)
    conn.execute("LOCK TABLE news IN SHARE ROW EXCLUSIVE MODE")  # nobody writes meanwhile
    gone = conn.execute(
        "DELETE FROM news USING near_duplicate_groups("
        " 'SELECT id, shingles(body) FROM news ORDER BY day DESC, id', 0.8) g"
        " WHERE news.id = g.id AND g.id <> g.representative"
        " RETURNING news.id, g.representative"
    )
    print(gone.fetchall())
    conn.rollback()

# Prints:
# [(1, 2)]
