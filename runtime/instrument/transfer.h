/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that runtime/instrument/transfer.c wraps; kmmcc's driver/link.c, too, includes this
 * list. */
#ifndef KMM__INSTRUMENT_TRANSFER_H
#define KMM__INSTRUMENT_TRANSFER_H

/* IN(name, buffer, bytes): stores to the buffer, where `result` is what it returns. OUT(name,
 * buffer, bytes): loads the buffer. Arguments are `a` to `e`. */
#define KMM_TRANSFER_CALLS(IN, OUT)                                                                \
    IN(read, b, result)                                                                            \
    IN(pread, b, result)                                                                           \
    IN(pread64, b, result)                                                                         \
    IN(recv, b, result)                                                                            \
    IN(recvfrom, b, result)                                                                        \
    IN(__read_chk, b, result)                                                                      \
    IN(__pread_chk, b, result)                                                                     \
    IN(__pread64_chk, b, result)                                                                   \
    IN(__recv_chk, b, result)                                                                      \
    IN(fread, a, (size_t)result *b)                                                                \
    IN(fread_unlocked, a, (size_t)result *b)                                                       \
    IN(__fread_chk, a, (size_t)result *c)                                                          \
    OUT(write, b, c)                                                                               \
    OUT(pwrite, b, c)                                                                              \
    OUT(pwrite64, b, c)                                                                            \
    OUT(send, b, c)                                                                                \
    OUT(sendto, b, c)                                                                              \
    OUT(fwrite, a, b *c)                                                                           \
    OUT(fwrite_unlocked, a, b *c)

#endif
