"""Which node, core or link of a fleet is slow: rounds of nodes and pairs, suspects, and their confirmation.

A first launch measures all nodes in rounds (`tournament`). Who looks slow there is only a suspect: all of them are
measured again, among the others, in launches of their own (`sweep`), and these alone decide (`outliers`). So the chance
of a false alarm does not depend on how many nodes there are or how suspects were chosen.
"""
