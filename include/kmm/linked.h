/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes an object that kmmcc has compiled refer to a symbol whose name says how to link it.
 *
 * libkmm has the symbol, so an object for the CPU can also be linked by -lkmm. An object for GPUs
 * (KMM__WRAPPED) needs the linker's --wrap as well: there the symbol is hidden, so only the flags
 * of `kmmcc --link-flags` define it. docs/linking.md is about this symbol.
 */
#ifndef KMM_LINKED_H
#define KMM_LINKED_H

#ifdef __cplusplus
extern "C" {
#endif

extern const char kmm_program_must_be_linked_by_kmmcc
#ifdef KMM__WRAPPED
    __attribute__((__visibility__("hidden")))
#endif
    ;

#ifdef __cplusplus
}
#endif

static const char *kmm__linked __attribute__((__used__)) = &kmm_program_must_be_linked_by_kmmcc;

#endif
