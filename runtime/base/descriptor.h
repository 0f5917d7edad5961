/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that libkmm keeps open. */
#ifndef KMM__BASE_DESCRIPTOR_H
#define KMM__BASE_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Moves a descriptor that was just opened behind those of stdin, stdout and stderr. In a process
 * that was started with one of these closed, what the program prints would go to the file. Returns
 * the new descriptor, or -1 with errno. */
static inline int kmm__descriptor_keep(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int kept = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(descriptor);
    errno = error;
    return kept;
}

#endif
