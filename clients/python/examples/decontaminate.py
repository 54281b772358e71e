"""Leave out of a training set what has half or more of a test question in it."""

from neardup.frames import dedupe, pairs

train = [
    "Our quiz had five rounds. What is the longest river that flows into the Black Sea? Nobody knew"
    " it, so we looked it up, and went home late, in the rain, by the last bus of the evening.",
    "How many legs does a spider have? It has eight of them.",
]
test = ["What is the longest river that flows into the Black Sea?"]
print(dedupe(train, against=test, contained=0.5, conn=""))
print(pairs(train, against=test, contained=0.5, conn=""))
print(pairs(train, against=test, conn=""))  # whole texts: little resemblance

# Prints:
# ['How many legs does a spider have? It has eight of them.']
# [Pair(a=0, b=0, similarity=1.0)]
# []
