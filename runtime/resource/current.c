/* SPDX-License-Identifier: Apache-2.0 */
/* The current resource of each device, and of the device that this thread has current. */
#include <pthread.h>

#include "resource/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_resource_t
    *chosen[KMM__MAX_DEVICES + 1]; /* index: device + 1; NULL: the initial one is current */
static kmm_resource_t *initial[KMM__MAX_DEVICES + 1]; /* created at first use, never freed */

/* Returns a device's current resource. The caller holds the lock. */
static kmm_resource_t *get(int device)
{
    if (chosen[device + 1])
        return chosen[device + 1];
    if (!initial[device + 1] && device < 0)
        kmm_host_resource_create(&initial[0]);
    else if (!initial[device + 1])
        kmm_device_resource_create(device, &initial[device + 1]);
    return initial[device + 1];
}

bool kmm__resource_is_initial(const kmm_resource_t *r)
{
    pthread_mutex_lock(&lock);
    bool is = r && r == initial[r->device + 1];
    pthread_mutex_unlock(&lock);
    return is;
}

static bool is_device(int device)
{
    if (device >= -1 && device < KMM__MAX_DEVICES)
        return true;
    kmm__resource_fail(KMM_E_NO_DEVICE, "there is no device %d", device);
    return false;
}

KMM__API kmm_resource_t *kmm_resource_of_device(int device)
{
    if (!is_device(device))
        return NULL;
    pthread_mutex_lock(&lock);
    kmm_resource_t *r = get(device);
    pthread_mutex_unlock(&lock);
    return r;
}

KMM__API int kmm_resource_set_of_device(int device, kmm_resource_t *r, kmm_resource_t **old)
{
    if (!is_device(device))
        return KMM_E_NO_DEVICE;
    if (r && r->device != device && !(device == -1 && r->kind != KMM_MEMORY_DEVICE))
        return kmm__resource_fail(KMM_E_INVALID, "%s is not memory of device %d", r->name, device);
    pthread_mutex_lock(&lock);
    kmm_resource_t *before = get(device);
    chosen[device + 1] = r;
    pthread_mutex_unlock(&lock);
    if (old)
        *old = before;
    return 0;
}

/* Returns the device that is current for this thread. As in CUDA and HIP, a thread that has chosen
 * none is on device 0. */
static int current_device(void)
{
    const int device = kmm__driver_current_device();
    return device < 0 && kmm__driver() ? 0 : device;
}

KMM__API kmm_resource_t *kmm_resource_current(void)
{
    return kmm_resource_of_device(current_device());
}

KMM__API int kmm_resource_set_current(kmm_resource_t *r, kmm_resource_t **old)
{
    return kmm_resource_set_of_device(current_device(), r, old);
}
