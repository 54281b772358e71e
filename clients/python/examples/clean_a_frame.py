"""A data frame of pandas without near-duplicates; the longest of each group stays."""

import pandas

from neardup.frames import dedupe

frame = pandas.DataFrame(
    {
        "body": [
            "The quick brown fox jumps over the lazy dog while the cat sleeps",
            "Something else altogether",
            "A quick brown fox jumps over the lazy dog while the cat sleeps, too",
        ],
        "source": ["a", "b", "c"],
    }
)
print(dedupe(frame, threshold=0.7, keep="longest", conn="").source.tolist())

# Prints:
# ['b', 'c']
