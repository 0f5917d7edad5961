/* SPDX-License-Identifier: Apache-2.0 */
/* A library for series of measurements, as it was written long before kmm. */
#ifndef SERIES_H
#define SERIES_H

/* Element i of out becomes the mean of elements i - 1 to i + 1 of in, for i from begin to end - 1;
 * the first and the last of the n elements are copied. */
void series_smooth(int begin, int end, int n, const double *in, double *out);
/* Multiplies n elements by a factor. */
void series_scale(int n, double factor, double *x);
/* Adds n elements to *sum. */
void series_add(int n, const double *x, double *sum);
/* Stores the largest of *most and of n elements in *most. */
void series_most(int n, const double *x, double *most);

#endif
