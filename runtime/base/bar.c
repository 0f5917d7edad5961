/* SPDX-License-Identifier: Apache-2.0 */
/* A bar in one line of a terminal. */
#include "base/bar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

bool kmm__bar_possible(int descriptor)
{
    const char *terminal = getenv("TERM");
    return isatty(descriptor) && !(terminal && strcmp(terminal, "dumb") == 0);
}

unsigned kmm__bar_columns(int descriptor)
{
    enum { USUAL = 80 };
    struct winsize size = {0};
    pid_t group = tcgetpgrp(descriptor);
    if (group >= 0 && group != getpgrp())
        return 0;
    unsigned columns = ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    columns = columns ? columns : USUAL;
    return columns < KMM__BAR_LEAST ? 0 : columns < KMM__BAR_MOST ? columns : KMM__BAR_MOST;
}

/* Writes the rate as "1.2 GiB/s" or "310 tasks/s". */
static void rate_text(const kmm__bar_t *b, char *out, size_t size)
{
    double rate = b->rate > 0 ? b->rate : 0;
    if (b->unit)
        snprintf(out, size, "%.*f %s/s", rate < 10 ? 1 : 0, rate, b->unit);
    else
        snprintf(out, size, "%s/s", KMM__BYTES(rate < 1e18 ? (uint64_t)rate : UINT64_MAX / 2));
}

/* What stands behind the bar, as much as has room beside a bar of BAR columns. */
static int tail_text(const kmm__bar_t *b, int room, char *out, size_t size)
{
    enum { BAR = 8 };
    char rate[64], left[64] = "";
    double part = b->all ? (double)(b->done < b->all ? b->done : b->all) / (double)b->all : 0;
    rate_text(b, rate, sizeof(rate));
    if (b->left >= 0 && b->left < 60)
        snprintf(left, sizeof(left), "  %.0f s left", b->left < 1 ? 1 : b->left);
    else if (b->left >= 0)
        snprintf(left, sizeof(left), "  %s left", KMM__SECONDS(b->left));
    int n = snprintf(out, size, "%3d%%  %s%s", (int)(100 * part), rate, left);
    if (n + BAR > room)
        n = snprintf(out, size, "%3d%%  %s", (int)(100 * part), rate);
    if (n + BAR > room)
        n = snprintf(out, size, "%3d%%", (int)(100 * part));
    return n;
}

size_t kmm__bar_text(const kmm__bar_t *b, unsigned columns, char out[KMM__BAR_TEXT])
{
    char tail[192], cells[KMM__BAR_MOST + 1];
    int room = (int)columns - 1 - (int)strlen(b->what) - (int)sizeof(": [] ") + 1;
    int width = room - tail_text(b, room, tail, sizeof(tail));
    width = width < 0 ? 0 : width < KMM__BAR_MOST ? width : KMM__BAR_MOST;
    double part = b->all ? (double)(b->done < b->all ? b->done : b->all) / (double)b->all : 0;
    int full = (int)(part * width);
    memset(cells, '#', (size_t)full);
    memset(cells + full, '-', (size_t)(width - full));
    cells[width] = '\0';
    int n = snprintf(out, KMM__BAR_TEXT, "\r%s: [%s] %s\033[K\r", b->what, cells, tail);
    return n < KMM__BAR_TEXT ? (size_t)n : KMM__BAR_TEXT - 1;
}
