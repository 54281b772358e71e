#
# test/bench/groups_peers.py
#		Connected components of pairs by another program: their number, and seconds
#		of CPU to read the pairs and to find the components.
#
#	python3 groups_peers.py scipy|networkx FILE
#
# Portions Copyright (c) 2026, the neardup developers
#
import sys
import time

tool, path = sys.argv[1:]
if tool == "scipy":
    import numpy
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    began = time.process_time()
    pairs = numpy.loadtxt(path, dtype=numpy.int64)
    read = time.process_time()
    ids, places = numpy.unique(pairs, return_inverse=True)
    places = places.reshape(pairs.shape)
    graph = coo_matrix((numpy.ones(len(pairs), dtype=numpy.int8), (places[:, 0], places[:, 1])),
                       shape=(len(ids), len(ids)))
    groups, labels = connected_components(graph, directed=False)
else:
    import networkx
    began = time.process_time()
    pairs = [tuple(map(int, line.split())) for line in open(path)]
    read = time.process_time()
    graph = networkx.Graph()
    graph.add_edges_from(pairs)
    groups = sum(1 for _ in networkx.connected_components(graph))
print(groups, read - began, time.process_time() - read)
