"""How many texts would go at each threshold, and the least similar pair at one of them."""

from neardup.frames import groups, pairs

texts = [
    "The city library opens a new reading room on Monday with eighty seats",
    "The city library opens a new reading room on Monday with ninety seats",
    "The city library opens a new reading room in May with ninety seats",
    "Trams run every ten minutes again",
]
for threshold in (0.3, 0.5, 0.7):
    gone = sum(row.row != row.representative for row in groups(texts, threshold=threshold, conn=""))
    print(threshold, gone)
least = min(pairs(texts, threshold=0.3, conn=""), key=lambda pair: pair.similarity)
print(round(least.similarity, 2), texts[least.a], "|", texts[least.b], sep="\n")

# Prints:
# 0.3 2
# 0.5 1
# 0.7 0
# 0.38
# The city library opens a new reading room on Monday with eighty seats
# |
# The city library opens a new reading room in May with ninety seats
