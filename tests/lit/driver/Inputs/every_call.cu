// Calls on memory that a managed program makes through libkmm: they must be found in every CUDA runtime.
#include <cuda_runtime.h>

__constant__ float constant[4];

static void called(void *) {}
static void called_back(cudaStream_t, cudaError_t, void *) {}

int main()
{
    cudaPitchedPtr volume;
    cudaMemcpy3DParms parameters = {};
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    cudaTextureObject_t object;
    cudaArray_t array = nullptr;
    cudaIpcMemHandle_t handle;
    cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    float *p, *q, value[4] = {};
    size_t pitch;
    cudaMallocPitch(&p, &pitch, 64, 4);
    cudaMalloc3D(&volume, make_cudaExtent(64, 4, 4));
    cudaMallocManaged(&q, 64);
    cudaMemset2DAsync(p, pitch, 0, 64, 4, 0);
    cudaMemset3D(volume, 0, make_cudaExtent(64, 4, 4));
    cudaMemset3DAsync(volume, 0, make_cudaExtent(64, 4, 4), 0);
    cudaMemcpy3D(&parameters);
    cudaMemcpy3DAsync(&parameters, 0);
    cudaMemcpyPeer(p, 0, q, 0, 4);
    cudaMemcpyPeerAsync(p, 0, q, 0, 4, 0);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaMemcpyToSymbol(constant, value, sizeof(value));
    cudaMemcpyFromSymbolAsync(value, constant, sizeof(value), 0, cudaMemcpyDeviceToHost, 0);
    cudaMemPrefetchAsync(p, 4, place, 0, 0);
    cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, place);
    cudaCreateTextureObject(&object, &resource, &texture, nullptr);
    cudaIpcGetMemHandle(&handle, p);
    cudaMemcpy2DToArray(array, 0, 0, p, 64, 64, 1, cudaMemcpyDeviceToDevice);
    cudaMemcpy2DFromArray(p, 64, array, 0, 0, 64, 1, cudaMemcpyDeviceToDevice);
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecordWithFlags(event, 0, 0);
    cudaLaunchHostFunc(0, called, value);
    cudaStreamAddCallback(0, called_back, value, 0);
    return cudaFree(p) != cudaSuccess;
}
