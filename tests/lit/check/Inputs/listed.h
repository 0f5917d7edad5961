ENTRY(x, 1)
