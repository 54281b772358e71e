"""Take a feed: near-duplicates are skipped, and the row that is there is known."""

import psycopg

FEED = [
    "The pool stays closed until Friday because of repairs.",
    "Trams run every ten minutes again.",
    "The pool stays closed until Friday, because of repairs!",
]
with psycopg.connect() as conn:
    conn.execute(
        "CREATE TABLE feed (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text,"
        " sig signature GENERATED ALWAYS AS (shingles(body)) STORED)"
    )
    conn.execute("CREATE INDEX ON feed USING neardup (sig)")
    conn.execute(
        "CREATE TRIGGER skip_near_duplicates BEFORE INSERT ON feed"
        " FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'skip')"
    )
    for body in FEED:
        new = conn.execute("INSERT INTO feed (body) VALUES (%s) RETURNING id", (body,)).fetchone()
        if new is None:
            there = conn.execute("SELECT near_key FROM neardup_guard_skipped()").fetchone()
            print("is there already as", there[0])
        else:
            print("new:", new[0])
    conn.rollback()

# Prints:
# new: 1
# new: 2
# is there already as 1
