/* SPDX-License-Identifier: Apache-2.0 */
/* Converts libkmm's errors to the CUDA runtime's numbers and names. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "launch/builder.h"
#include "managed/managed.h"

static _Thread_local int last_error;

static const struct {
    int number;
    const char *name, *text;
} table[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {5, "cudaErrorProfilerDisabled", "profiler disabled"},
    {6, "cudaErrorProfilerNotInitialized", "profiler not initialized"},
    {7, "cudaErrorProfilerAlreadyStarted", "profiler already started"},
    {8, "cudaErrorProfilerAlreadyStopped", "profiler already stopped"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {18, "cudaErrorInvalidTexture", "invalid texture reference"},
    {19, "cudaErrorInvalidTextureBinding", "invalid texture binding"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {22, "cudaErrorAddressOfConstant", "address of constant"},
    {23, "cudaErrorTextureFetchFailed", "texture fetch failed"},
    {24, "cudaErrorTextureNotBound", "texture not bound"},
    {25, "cudaErrorSynchronizationError", "synchronization error"},
    {26, "cudaErrorInvalidFilterSetting", "invalid filter setting"},
    {27, "cudaErrorInvalidNormSetting", "invalid norm setting"},
    {28, "cudaErrorMixedDeviceExecution", "mixed device execution"},
    {31, "cudaErrorNotYetImplemented", "this call does not work yet"},
    {32, "cudaErrorMemoryValueTooLarge", "memory value too large"},
    {34, "cudaErrorStubLibrary", "stub library"},
    {35, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {36, "cudaErrorCallRequiresNewerDriver", "call requires newer driver"},
    {37, "cudaErrorInvalidSurface", "invalid surface"},
    {43, "cudaErrorDuplicateVariableName", "duplicate variable name"},
    {44, "cudaErrorDuplicateTextureName", "duplicate texture name"},
    {45, "cudaErrorDuplicateSurfaceName", "duplicate surface name"},
    {46, "cudaErrorDevicesUnavailable", "all CUDA-capable devices are busy or unavailable"},
    {49, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
    {52, "cudaErrorMissingConfiguration", "missing configuration"},
    {53, "cudaErrorPriorLaunchFailure", "prior launch failure"},
    {65, "cudaErrorLaunchMaxDepthExceeded", "launch max depth exceeded"},
    {66, "cudaErrorLaunchFileScopedTex", "launch file scoped tex"},
    {67, "cudaErrorLaunchFileScopedSurf", "launch file scoped surf"},
    {68, "cudaErrorSyncDepthExceeded", "sync depth exceeded"},
    {69, "cudaErrorLaunchPendingCountExceeded", "launch pending count exceeded"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {102, "cudaErrorDeviceNotLicensed", "device not licensed"},
    {103, "cudaErrorSoftwareValidityNotEstablished", "software validity not established"},
    {127, "cudaErrorStartupFailure", "startup failure"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {205, "cudaErrorMapBufferObjectFailed", "map buffer object failed"},
    {206, "cudaErrorUnmapBufferObjectFailed", "unmap buffer object failed"},
    {207, "cudaErrorArrayIsMapped", "array is mapped"},
    {208, "cudaErrorAlreadyMapped", "already mapped"},
    {209, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {210, "cudaErrorAlreadyAcquired", "already acquired"},
    {211, "cudaErrorNotMapped", "not mapped"},
    {212, "cudaErrorNotMappedAsArray", "not mapped as array"},
    {213, "cudaErrorNotMappedAsPointer", "not mapped as pointer"},
    {214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {215, "cudaErrorUnsupportedLimit", "unsupported limit"},
    {216, "cudaErrorDeviceAlreadyInUse", "device already in use"},
    {217, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {219, "cudaErrorInvalidGraphicsContext", "invalid graphics context"},
    {220, "cudaErrorNvlinkUncorrectable", "NVLink error"},
    {221, "cudaErrorJitCompilerNotFound", "jit compiler not found"},
    {222, "cudaErrorUnsupportedPtxVersion", "unsupported ptx version"},
    {223, "cudaErrorJitCompilationDisabled", "jit compilation disabled"},
    {224, "cudaErrorUnsupportedExecAffinity", "unsupported exec affinity"},
    {225, "cudaErrorUnsupportedDevSideSync", "unsupported dev side sync"},
    {226, "cudaErrorContained", "contained"},
    {300, "cudaErrorInvalidSource", "invalid source"},
    {301, "cudaErrorFileNotFound", "file not found"},
    {302, "cudaErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    {303, "cudaErrorSharedObjectInitFailed", "shared object init failed"},
    {304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {402, "cudaErrorLossyQuery", "lossy query"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {703, "cudaErrorLaunchIncompatibleTexturing", "launch incompatible texturing"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {709, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {711, "cudaErrorTooManyPeers", "too many peers"},
    {712, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {714, "cudaErrorHardwareStackError", "hardware stack error"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"},
    {718, "cudaErrorInvalidPc", "invalid program counter"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {721, "cudaErrorTensorMemoryLeak", "tensor memory leak"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {802, "cudaErrorSystemNotReady", "system not yet initialized"},
    {803, "cudaErrorSystemDriverMismatch", "system driver mismatch"},
    {804, "cudaErrorCompatNotSupportedOnDevice", "compat not supported on device"},
    {805, "cudaErrorMpsConnectionFailed", "mps connection failed"},
    {806, "cudaErrorMpsRpcFailure", "mps rpc failure"},
    {807, "cudaErrorMpsServerNotReady", "mps server not ready"},
    {808, "cudaErrorMpsMaxClientsReached", "mps max clients reached"},
    {809, "cudaErrorMpsMaxConnectionsReached", "mps max connections reached"},
    {810, "cudaErrorMpsClientTerminated", "mps client terminated"},
    {811, "cudaErrorCdpNotSupported", "cdp not supported"},
    {812, "cudaErrorCdpVersionMismatch", "cdp version mismatch"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", "stream capture invalidated"},
    {902, "cudaErrorStreamCaptureMerge", "stream capture merge"},
    {903, "cudaErrorStreamCaptureUnmatched", "stream capture unmatched"},
    {904, "cudaErrorStreamCaptureUnjoined", "stream capture unjoined"},
    {905, "cudaErrorStreamCaptureIsolation", "stream capture isolation"},
    {906, "cudaErrorStreamCaptureImplicit", "stream capture implicit"},
    {907, "cudaErrorCapturedEvent", "captured event"},
    {908, "cudaErrorStreamCaptureWrongThread", "stream capture wrong thread"},
    {909, "cudaErrorTimeout", "timeout"},
    {910, "cudaErrorGraphExecUpdateFailure", "graph exec update failure"},
    {911, "cudaErrorExternalDevice", "external device"},
    {912, "cudaErrorInvalidClusterSize", "invalid cluster size"},
    {913, "cudaErrorFunctionNotLoaded", "function not loaded"},
    {914, "cudaErrorInvalidResourceType", "invalid resource type"},
    {915, "cudaErrorInvalidResourceConfiguration", "invalid resource configuration"},
    {999, "cudaErrorUnknown", "unknown error"},
    {10000, "cudaErrorApiFailureBase", "api failure base"},
};

static int number_of(int code)
{
    switch ((kmm_error_t)code) {
    case KMM_E_INVALID:
    case KMM_E_OVERLAP:
    case KMM_E_RANGE: return KMM_CUDA_INVALID_VALUE;
    case KMM_E_MEMORY: return KMM_CUDA_MEMORY_ALLOCATION;
    case KMM_E_ADDRESS: return KMM_CUDA_INVALID_DEVICE_POINTER;
    case KMM_E_KERNEL:
    case KMM_E_POISONED:
    case KMM_E_ACCESS: return KMM_CUDA_LAUNCH_FAILURE;
    case KMM_E_NO_DEVICE: return KMM_CUDA_NO_DEVICE;
    case KMM_E_UNSUPPORTED: return KMM_CUDA_NOT_SUPPORTED;
    case KMM_E_STATE: return KMM_CUDA_INVALID_RESOURCE_HANDLE;
    case KMM_E_DEVICE:
    case KMM_E_IO:
    case KMM_E_DISK_FULL:
    case KMM_E_CORRUPT: return KMM_CUDA_UNKNOWN;
    }
    return KMM_CUDA_UNKNOWN;
}

int kmm__managed_fail(int number, const char *text)
{
    kmm__log(KMM__LOG_ERROR, "%s", text);
    return last_error = number;
}

KMM__API void kmm_cuda_say_error(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    kmm__log(KMM__LOG_ERROR, "%s", text);
}

int kmm__managed_note(int number)
{
    return last_error = number;
}

int kmm__managed_result(int code)
{
    if (code && kmm__error_is_late())
        kmm__exit_unasked();
    return code ? kmm__managed_fail(number_of(code), kmm_error_text(NULL)) : KMM_CUDA_SUCCESS;
}

/* Records the error of a launch. A launch has no result, so the program learns of the error only if
 * it asks; the exit status says so if it never does. */
KMM__API int kmm_cuda_launch_failed(int error)
{
    if (error == 0)
        return KMM_CUDA_SUCCESS;
    kmm__launch_disarm();
    kmm__exit_unasked();
    return kmm__managed_note(error);
}

/* The error of the last launch that libkmm has refused, of whatever thread. Plain CUDA would have
 * run it and told what is wrong at a synchronization, so the next one tells it. */
static atomic_int refused;

int kmm__managed_refuse(int error)
{
    if (error)
        atomic_store(&refused, error);
    return kmm_cuda_launch_failed(error);
}

int kmm__managed_synced(int error)
{
    int earlier = atomic_exchange(&refused, KMM_CUDA_SUCCESS);
    return error || !earlier ? error : kmm__managed_note(earlier);
}

/* The error that a question was answered with. */
static int answered(int error)
{
    if (error)
        kmm__exit_asked();
    return error;
}

KMM__API int kmm_cuda_get_last_error(void)
{
    int error = last_error;
    last_error = KMM_CUDA_SUCCESS;
    return answered(error);
}

KMM__API int kmm_cuda_peek_at_last_error(void)
{
    return answered(last_error);
}

KMM__API const char *kmm_cuda_get_error_name(int error)
{
    answered(error);
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
        if (table[k].number == error)
            return table[k].name;
    return "unrecognized error code";
}

KMM__API const char *kmm_cuda_get_error_string(int error)
{
    answered(error);
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
        if (table[k].number == error)
            return table[k].text;
    return "unrecognized error code";
}
