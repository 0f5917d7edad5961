/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm's errors as the CUDA runtime numbers and names them. */
#include <stdio.h>

#include "managed.h"

static _Thread_local int last_error;

static const struct { int number; const char *name, *text; } table[] = {
    { KMM_CUDA_SUCCESS, "cudaSuccess", "no error" },
    { KMM_CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument" },
    { KMM_CUDA_MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory" },
    { KMM_CUDA_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { KMM_CUDA_INVALID_DEVICE_POINTER, "cudaErrorInvalidDevicePointer", "invalid device pointer" },
    { KMM_CUDA_NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { KMM_CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { KMM_CUDA_INVALID_RESOURCE_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { KMM_CUDA_NOT_READY, "cudaErrorNotReady", "device not ready" },
    { KMM_CUDA_PEER_ACCESS_ALREADY_ENABLED, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled" },
    { KMM_CUDA_PEER_ACCESS_NOT_ENABLED, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled" },
    { KMM_CUDA_LAUNCH_FAILURE, "cudaErrorLaunchFailure", "unspecified launch failure" },
    { KMM_CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported" },
    { KMM_CUDA_UNKNOWN, "cudaErrorUnknown", "unknown error" },
};

static int number_of(int code)
{
    switch ((kmm_error_t)code) {
    case KMM_E_INVALID: case KMM_E_OVERLAP: case KMM_E_RANGE: return KMM_CUDA_INVALID_VALUE;
    case KMM_E_MEMORY: return KMM_CUDA_MEMORY_ALLOCATION;
    case KMM_E_ADDRESS: return KMM_CUDA_INVALID_DEVICE_POINTER;
    case KMM_E_KERNEL: case KMM_E_POISONED: case KMM_E_ACCESS: return KMM_CUDA_LAUNCH_FAILURE;
    case KMM_E_NO_DEVICE: return KMM_CUDA_NO_DEVICE;
    case KMM_E_UNSUPPORTED: return KMM_CUDA_NOT_SUPPORTED;
    case KMM_E_STATE: return KMM_CUDA_INVALID_RESOURCE_HANDLE;
    case KMM_E_DEVICE: case KMM_E_IO: case KMM_E_DISK_FULL: case KMM_E_CORRUPT: return KMM_CUDA_UNKNOWN;
    }
    return KMM_CUDA_UNKNOWN;
}

int kmm__managed_fail(int number, const char *text)
{
    fprintf(stderr, "kmm: error: %s\n", text);
    return last_error = number;
}

int kmm__managed_note(int number)
{
    return last_error = number;
}

int kmm__managed_result(int code)
{
    return code ? kmm__managed_fail(number_of(code), kmm_error_text(NULL)) : KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_get_last_error(void)
{
    int error = last_error;
    last_error = KMM_CUDA_SUCCESS;
    return error;
}

KMM__API int kmm_cuda_peek_at_last_error(void)
{
    return last_error;
}

KMM__API const char *kmm_cuda_get_error_name(int error)
{
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
        if (table[k].number == error)
            return table[k].name;
    return "unrecognized error code";
}

KMM__API const char *kmm_cuda_get_error_string(int error)
{
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
        if (table[k].number == error)
            return table[k].text;
    return "unrecognized error code";
}
