"""Tickets about the same thing: vectors of weighted words, the nearest first."""

import psycopg

TICKETS = [
    (1, "Printer on the second floor does not print. The display says paper jam."),
    (2, "I forgot my password and cannot log in to the mail."),
    (3, "The printer prints blank pages only, on the third floor."),
]
with psycopg.connect() as conn:
    conn.execute("CREATE TABLE tickets (id int PRIMARY KEY, body text, v signature)")
    conn.cursor().executemany("INSERT INTO tickets VALUES (%s, %s)", TICKETS)
    conn.execute("CREATE TABLE words AS SELECT lexicon_agg(body, 'english stop') AS all FROM tickets")
    conn.execute("UPDATE tickets SET v = weighted_words(body, words.all) FROM words")
    conn.execute("CREATE INDEX ON tickets USING neardup (v)")
    nearest = conn.execute(
        "SELECT id FROM tickets ORDER BY v <=>"
        " weighted_words(%s, (SELECT words.all FROM words)) LIMIT 2",
        ("the printer on the third floor is broken",),
    )
    print([row[0] for row in nearest])
    conn.rollback()

# Prints:
# [3, 1]
