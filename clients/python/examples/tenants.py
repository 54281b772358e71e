"""Reject near-duplicates within each tenant; what is rejected says which row is there."""

import psycopg

from neardup import NearDuplicateError, raises_near_duplicates

with psycopg.connect() as conn:
    conn.execute(
        "CREATE TABLE notes (id int PRIMARY KEY, tenant int, body text,"
        " sig signature GENERATED ALWAYS AS (shingles(body)) STORED)"
    )
    conn.execute("CREATE INDEX ON notes USING neardup (sig)")
    conn.execute(
        "CREATE CONSTRAINT TRIGGER no_near_duplicates AFTER INSERT OR UPDATE ON notes"
        " FOR EACH ROW EXECUTE FUNCTION neardup_guard('sig', '0.8', 'within', 'tenant')"
    )
    for row in [(1, 1), (2, 2), (3, 1)]:
        try:
            with raises_near_duplicates(), conn.transaction():
                conn.execute("INSERT INTO notes VALUES (%s, %s, 'To be or not to be')", row)
            print("inserted", row)
        except NearDuplicateError as error:
            print(row, "is like", error.key)
    conn.rollback()

# Prints:
# inserted (1, 1)
# inserted (2, 2)
# (3, 1) is like 1
