    #pragma kmm parallel(i = 0:1000) rebase(n: i) update(x[i])
    add(1000, 10 * K, x);
