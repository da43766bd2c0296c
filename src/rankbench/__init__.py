"""rankbench measures MPI libraries side by side and says which one to use, where, by how much, and how sure it is."""
