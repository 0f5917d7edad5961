/* SPDX-License-Identifier: Apache-2.0 */
#include "series.h"

void series_smooth(int begin, int end, int n, const double *in, double *out)
{
    for (int i = begin; i < end; i++)
        if (i == 0 || i == n - 1)
            out[i] = in[i];
        else
            out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

void series_scale(int n, double factor, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= factor;
}

void series_add(int n, const double *x, double *sum)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    *sum += s;
}

void series_most(int n, const double *x, double *most)
{
    for (int i = 0; i < n; i++)
        if (x[i] > *most)
            *most = x[i];
}
