/* SPDX-License-Identifier: Apache-2.0 */
#define THERE __LINE__
