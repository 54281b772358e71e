"""The passages that two texts share, with what was put in between."""

import psycopg

ONE = "The library opens a new reading room on Monday and closes the old one in May."
OTHER = "As we hear, the library opens a new reading room on Monday. It closes the old one in May."
with psycopg.connect() as conn:
    shared = conn.execute(
        "SELECT substr(a, a_start, a_length) FROM (VALUES (%s, %s)) AS t (a, b),"
        " shared_passages(a, b, min_words => 4)",
        (ONE, OTHER),
    )
    for (passage,) in shared:
        print(passage)

# Prints:
# The library opens a new reading room on Monday and closes the old one in May
