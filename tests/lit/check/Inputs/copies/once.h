/* SPDX-License-Identifier: Apache-2.0 */
_Pragma("once")
#ifdef ONCE_AGAIN
#undef VALUE
#define VALUE 9
#else
#define VALUE 4
#endif
