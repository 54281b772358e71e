"""Leave out of a training set what is near a text of the test set."""

from neardup.frames import dedupe, pairs

train = [
    "What is the capital of France? It is Paris, a city on the Seine.",
    "How many legs does a spider have? It has eight of them.",
]
test = ["what is the capital of France? It is Paris, a city on the Seine!"]
print(dedupe(train, against=test, conn=""))
print(pairs(train, against=test, conn=""))

# Prints:
# ['How many legs does a spider have? It has eight of them.']
# [Pair(a=0, b=0, similarity=1.0)]
