/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <kmm.h>

int main(void)
{
    puts(kmm_error_string(0));
    return 0;
}
