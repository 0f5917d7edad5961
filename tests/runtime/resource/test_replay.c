/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a log of two threads, on two streams each, to the path it is given. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <kmm/resource.h>

static kmm_resource_t *logging;

static void *work(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    void *live[32] = {NULL};
    for (size_t i = 0; i < 2000; i++) {
        size_t slot = i * 7 % 32, bytes = (i * 7919 + number) % 100000 + 1;
        kmm_stream_t stream = (kmm_stream_t)(0x1000 * (2 * number + i % 2 + 1));
        kmm_resource_deallocate(logging, live[slot], KMM_SIZE_RECORDED, stream);
        if (kmm_resource_allocate(logging, bytes, 0, stream, &live[slot]))
            return "allocation failed";
    }
    for (int i = 0; i < 32; i++)
        kmm_resource_deallocate(logging, live[i], KMM_SIZE_RECORDED, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    kmm_resource_t *host, *pool;
    pthread_t other;
    void *mine, *others;
    if (argc != 2 || kmm_host_resource_create(&host) ||
        kmm_pool_resource_create(host, NULL, &pool) ||
        kmm_logging_resource_create(pool, argv[1], &logging))
        return 1;
    pthread_create(&other, NULL, work, (void *)1);
    mine = work((void *)2);
    pthread_join(other, &others);
    return mine || others || kmm_resource_destroy(logging) || kmm_resource_destroy(pool) ||
           kmm_resource_destroy(host);
}
