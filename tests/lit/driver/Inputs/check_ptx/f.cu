static void add(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] += 1;
}

int main(void)
{
    int x[100] = {0}, n = 100;
    #pragma kmm parallel(i = 0:n) update(x[i]) rebase(n: i)
    add(n, x);
    return x[5];
}
