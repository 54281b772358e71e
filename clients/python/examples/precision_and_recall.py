"""Precision and recall at each threshold, of pairs that a person has judged."""

import pandas

from neardup.frames import pairs

frame = pandas.DataFrame(
    {
        "body": [
            "The city library opens a new reading room on Monday with eighty seats",
            "The city library opens a new reading room on Monday with ninety seats",
            "The city library opens a new reading room in May with ninety seats",
            "Trams run every ten minutes again",
        ]
    }
)
judged = pandas.DataFrame({"a": [0, 0, 1], "b": [1, 2, 2], "same": [True, False, True]})

found = pairs(frame, threshold=0.1, conn="")
both = judged.merge(found, how="left", on=["a", "b"]).fillna({"similarity": 0.0})
for threshold in (0.3, 0.45, 0.6):
    near = both[both.similarity >= threshold]
    precision, recall = near.same.mean(), near.same.sum() / judged.same.sum()
    print(threshold, round(precision, 2), round(recall, 2))
# scikit-learn: precision_recall_curve(both.same, both.similarity)

# Prints:
# 0.3 0.67 1.0
# 0.45 1.0 1.0
# 0.6 1.0 0.5
