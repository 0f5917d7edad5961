// SPDX-License-Identifier: Apache-2.0
// Legacy C: functions that loop over arrays. There is no kernel and no device in this source;
// three pragmas let the loops run in chunks on all that the machine has.
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// y += a x
static void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

// x *= a, for the elements [lo, hi) of x
static void scale(int lo, int hi, float a, float *x)
{
    for (int i = lo; i < hi; i++)
        x[i] *= a;
}

// *result += x . y
static void dot(int n, const float *x, const float *y, double *result)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    *result += sum;
}

// Element i of a random sequence: an eighth of a whole number in [0, 64). Sums and products of a
// few of them are exact, so every order of the additions gives the same result.
static float random_value(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed << 32) + i * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (float)(z >> 58) / 8;
}

// The same as the calls in main compute, one element at a time.
static float expected_value(uint64_t seed, int steps, float a, int i)
{
    float x = random_value(seed, i), y = random_value(seed + 1, i);
    for (int step = 0; step < steps; step++)
        y += a * x;
    return y * 0.5f;
}

// A whole number from the command line; -1, which no option allows, when it is none.
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

static int usage(void)
{
    fprintf(stderr, "usage: saxpy [-n elements] [-t steps, at most 100] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long count = 100000;
    long steps = 3;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:t:s:")) != -1;) {
        switch (option) {
        case 'n': count = number(optarg); break;
        case 't': steps = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (optind != argc || count < 0 || count > INT_MAX / 2 || steps < 0 || steps > 100)
        return usage();

    int n = (int)count;
    const float a = 0.25f;
    float *x = malloc(n * sizeof(float) + 1), *y = malloc(n * sizeof(float) + 1);
    if (!x || !y) {
        fprintf(stderr, "saxpy: not enough memory for 2 x %d floats\n", n);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        x[i] = random_value(seed, i);
        y[i] = random_value(seed + 1, i);
    }

    // Inside the block the arrays live where the work is; y comes back at its end.
    #pragma kmm data map(to: x[0:n]) map(tofrom: y[0:n])
    {
        for (long step = 0; step < steps; step++)
            #pragma kmm parallel(i = 0:n) chunk(n / 6) rebase(n: i) read(x[i]) update(y[i])
            saxpy(n, a, x, y);
    }

    // Without a data block the arrays are mapped for the one call.
    #pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(lo: begin(i), hi: end(i)) update(y[i])
    scale(0, n, 0.5f, y);

    double product[1] = {0};
    #pragma kmm parallel(i = 0:n) chunk(n / 5) rebase(n: i) read(x[i], y[i]) reduce(+: product[0])
    dot(n, x, y, product);

    long long wrong = 0;
    double expected = 0;
    for (int i = 0; i < n; i++) {
        float value = expected_value(seed, steps, a, i);
        wrong += y[i] != value;
        expected += (double)random_value(seed, i) * value;
    }
    wrong += product[0] != expected;
    printf("saxpy: n = %d, %ld steps, x.y = %.9g, %lld wrong: %s\n", n, steps, product[0], wrong,
           wrong ? "FAILED" : "ok");
    free(x);
    free(y);
    return wrong != 0;
}
