static float in_header[1000]; static void header_add(int n, float *x) { for (int i = 0; i < n; i++) x[i] += 1; }
static void header_run(int n) {

#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(in_header[i])
    header_add(n, in_header); }
