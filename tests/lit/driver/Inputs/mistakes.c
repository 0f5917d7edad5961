void f(int n, float *x);
void g(int n, float *x)
{
	/* naïve */
	#pragma	kmm parallel(i = 0:n) bogus(1) rebase(n: i) update(x[i])
	f(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) /* é漢 */ read(yy[i])
	f(n, x);
}
