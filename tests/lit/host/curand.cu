// Random numbers in kernels are those of CUDA 13's curand_kernel.h, from which the numbers below come.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

template <class S>
__host__ __device__ void draw(unsigned long long seed, unsigned long long sequence, unsigned long long offset, unsigned *words, double *numbers)
{
    S s;
    curand_init(seed, sequence, offset, &s);
    for (int k = 0; k < 6; k++)
        words[k] = curand(&s);
    numbers[0] = curand_uniform(&s);
    numbers[1] = curand_uniform_double(&s);
    numbers[2] = curand_normal(&s);
    numbers[3] = curand_normal(&s);
    float2 n = curand_normal2(&s);
    numbers[4] = n.x;
    numbers[5] = n.y;
    numbers[6] = curand_normal_double(&s);
    numbers[7] = curand_normal_double(&s);
    numbers[8] = curand_log_normal(&s, 0.5f, 0.25f);
    numbers[9] = curand_normal(&s);
    numbers[10] = curand_log_normal(&s, 0.5f, 0.25f);
    numbers[11] = curand_log_normal_double(&s, 0.5, 0.25);
    numbers[12] = curand_log_normal_double(&s, 0.5, 0.25);
    double2 m = curand_normal2_double(&s), l = curand_log_normal2_double(&s, 0.5, 0.25);
    float2 f = curand_log_normal2(&s, 0.5f, 0.25f);
    numbers[13] = m.x + 10 * m.y;
    numbers[14] = l.x + 10 * l.y;
    numbers[15] = f.x + 10 * f.y;
    words[6] = curand_poisson(&s, 3.5);
    words[7] = curand_poisson(&s, 60.0);
    words[8] = curand_poisson(&s, 5000.0);
    skipahead(1234567ull, &s);
    words[9] = curand(&s);
    skipahead_sequence(99ull, &s);
    words[10] = curand(&s);
}
__host__ __device__ inline void draw_four(unsigned *words, double *numbers)
{
    curandStatePhilox4_32_10_t p;
    curand_init(1234, 5, 6, &p);
    uint4 a = curand4(&p);
    float4 u = curand_uniform4(&p), n = curand_normal4(&p), l = curand_log_normal4(&p, 0.5f, 0.25f);
    double2 d = curand_uniform2_double(&p);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = a.z;
    words[3] = a.w;
    numbers[0] = u.x + 10 * u.y + 100 * u.z + 1000 * u.w;
    numbers[1] = n.x + 10 * n.y + 100 * n.z + 1000 * n.w;
    numbers[2] = l.x + 10 * l.y + 100 * l.z + 1000 * l.w;
    numbers[3] = d.x + 10 * d.y;
}
static const unsigned long long cases[][3] = {{0, 0, 0}, {1234, 0, 0}, {1234, 1, 0}, {1234, 0, 1}, {1234, 5, 7}, {0xdeadbeefcafebabeull, 1000003, 4},
                                              {42, 0x123456789abcull, 0x1000000003ull}, {7, 0xffffffffffffffffull, 0xffffffffffffffffull}};

struct sample { unsigned words[11]; double numbers[16]; };
// For each case those of XORWOW, then those of Philox.
static const sample wanted[] = {
    {{0xbd7f03b6, 0x703e556d, 0x845af0c5, 0x283067fd, 0x1245241f, 0x7666f33f, 0x00000002, 0x00000041, 0x000013aa, 0x6ec15fdb, 0x9bcc081a},
     {0.227643266, 0.144065166, -0.927174926, 1.57642365, -0.175963923, 1.09587717, 0.782819479, -0.488935962, 1.56477225, 0.238311112, 1.60481572, 2.11633183, 1.23214379, -8.51931335, 23.3782001, 15.9081984}},
    {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0xf8e4cca4, 0x5cb200db, 0x00000003, 0x0000003c, 0x00001376, 0x457ee298, 0xed1db10c},
     {0.693930924, 0.0370940808, 2.54409719, -1.18635809, 1.96113145, -0.269650191, 0.588793037, -1.18817546, 1.51241565, -0.172061831, 1.74155927, 1.17768162, 1.87170145, 25.7090381, 14.5531557, 18.8405094}},
    {{0x253d5e15, 0x6f558604, 0xdee6daf2, 0x7485b394, 0xdb6a6a85, 0x95195c6b, 0x00000004, 0x0000003b, 0x000013eb, 0x2ea9d486, 0xaabd251f},
     {0.201403871, 0.30077175, -0.657692313, -1.25434792, -0.017826112, -0.863845706, 0.537063876, 0.432763272, 1.96757567, -0.905156612, 2.27147222, 2.01949191, 1.01013779, 20.3057663, 16.4453451, 16.7433338}},
    {{0x2090b348, 0xda7cf0ab, 0x4401906f, 0xcbca470e, 0x9eeede35, 0x1cbe137c, 0x00000000, 0x0000003d, 0x000013d7, 0x2969ca20, 0xdb18ae6f},
     {0.977164328, 0.0800607989, -0.162294447, 1.65918005, -0.149344906, -0.656451583, -1.08293071, 1.66326024, 1.25061917, -0.388804048, 1.9415158, 1.32044629, 1.44440622, -7.52318728, 19.8409407, 23.5777626}},
    {{0xd1f7605a, 0xed29ae49, 0x83030ed9, 0x899fbaf4, 0xcf2ac63b, 0x047c6db7, 0x00000001, 0x0000003b, 0x00001370, 0x55907251, 0x930283a0},
     {0.449337572, 0.136307664, 0.846454799, 1.11008441, -0.189703569, -0.715442419, 0.415513708, -0.273728149, 1.78438175, 1.03924537, 1.31756234, 2.10056157, 1.40483655, 4.61599004, 22.0664962, 21.4585762}},
    {{0xd115a128, 0x52fc7c75, 0xc7f33f17, 0x0f1539db, 0x07129e5f, 0x653d7a73, 0x00000003, 0x0000002f, 0x0000136d, 0x7368b8cc, 0xaebf8de8},
     {0.115283117, 0.52732889, 1.80789053, -0.502855241, -0.881081104, -1.02465236, 0.260536697, 0.408760196, 0.983557463, 0.0835720897, 2.06922126, 1.84718575, 2.07023877, -4.7087625, 15.6819429, 16.2854652}},
    {{0x6f558604, 0xdee6daf2, 0x7485b394, 0xdb6a6a85, 0x95195c6b, 0x338f343f, 0x00000006, 0x00000039, 0x000013de, 0x206045fc, 0x97bc408c},
     {0.786745369, 0.366787162, -0.971556664, -0.395463318, -1.15685928, -0.186758235, 0.623263562, -0.831855507, 1.03707433, 0.630349874, 1.45281315, 1.50141174, 1.64630363, -0.773262104, 23.6390092, 17.0599289}},
    {{0xda7cf0ab, 0x4401906f, 0xcbca470e, 0x9eeede35, 0x1cbe137c, 0xfa277093, 0x00000002, 0x0000003e, 0x00001394, 0xf3d3c615, 0x04aeb59e},
     {0.0800607949, 0.249172738, -0.169133276, 0.0517143905, -1.08497286, -0.26750806, 0.614853763, 1.10719493, 1.6977489, -0.218126997, 1.08116329, 1.58990845, 1.66760368, -7.97889156, 14.1458441, 32.2822533}},
    {{0xc7c04273, 0xd8577152, 0x18c2f892, 0x45ebfbe1, 0x291c2b37, 0x84bfaa09, 0x00000001, 0x00000041, 0x00001337, 0xdb198a57, 0x51435042},
     {0.126060918, 0.190428741, -0.459682643, -1.08721137, 0.254393876, -0.0866594389, 1.97492385, -1.45176635, 1.36429977, 2.45998859, 1.42620814, 1.78153505, 1.07779618, -3.27293064, 17.8998583, 16.4080658}},
    {{0x72c26332, 0x26a9bd1b, 0xd88ecb0d, 0x088f2111, 0xd1e85602, 0xc19c9fa2, 0x00000004, 0x0000004f, 0x000013a4, 0x85f6c9ca, 0xa598bd5a},
     {0.219480887, 0.32289216, -0.0460085049, 1.35926187, 0.747718215, 0.636450887, -1.68875284, -0.684647275, 1.50308061, 0.814899027, 1.67235434, 1.00455129, 1.49808863, -8.21017655, 18.3520306, 19.9354935}},
    {{0x8d2c0ce7, 0x64b49203, 0x7d0e3af6, 0x10791ffa, 0xbaa2d726, 0x526e4c36, 0x00000004, 0x00000044, 0x000013a1, 0x3c7f806a, 0x57b1529c},
     {0.366688073, 0.803974884, -1.06530261, -2.69100165e-05, 1.57008791, 0.308516145, 0.0334520803, 0.501198307, 2.05782509, 0.343083888, 1.7309767, 1.40537837, 1.17522006, 12.2334242, 21.5254879, 17.9530163}},
    {{0xbd03d248, 0x523b9b58, 0xcb0a2bf2, 0xd9a16721, 0x14382554, 0x276ea770, 0x00000002, 0x0000003d, 0x0000136c, 0x4497d3ec, 0x63835c7e},
     {0.0445551425, 0.542705538, -0.130547971, 0.329451591, 1.14262998, -0.672478676, -0.0167332932, 0.632799822, 1.11988723, -0.630799472, 2.40584016, 1.69061977, 1.21904328, 20.3996647, 20.5357394, 22.2802505}},
    {{0x4dd1378c, 0x49437922, 0xc54ac06c, 0x2d2ae892, 0x805a8f38, 0xb5a4e32e, 0x00000002, 0x00000036, 0x000013c6, 0xafdb7119, 0xcde625f7},
     {0.237942517, 0.0765035513, -0.765983224, 0.435688406, 0.717304826, -0.787083924, -0.465335801, 0.428683423, 1.39752543, 1.78399098, 1.64382446, 1.139001, 1.90190373, 5.78541775, 19.2461671, 18.9426861}},
    {{0x92108c5c, 0xf54f4ea2, 0x3333cefb, 0x1c476525, 0x2edfcfac, 0x8e604e82, 0x00000002, 0x00000049, 0x000012f7, 0xf6b7b2e5, 0xeabad442},
     {0.84120059, 0.31033256, 1.38582361, 1.49447691, -0.699115396, 1.09893239, -0.0389463265, 1.41673561, 1.26354897, -1.19118392, 1.97230947, 1.72576103, 1.27115889, 9.79525141, 17.1750707, 12.5373507}},
    {{0x782ec730, 0x07ac23b5, 0xa5192449, 0xa80a61b0, 0x65179ec1, 0x46cc6b34, 0x00000001, 0x0000003e, 0x000013f1, 0x424a7e05, 0x0a56c482},
     {0.705029905, 0.890773503, 0.687503338, 0.55749321, 0.265179813, -0.585214972, -0.30377745, 0.453195091, 1.90134394, 0.186090425, 1.46683311, 1.6095169, 2.39880361, -19.1494564, 15.0968333, 20.2176838}},
    {{0xf3a0b46e, 0xab8cd05b, 0xbed72f24, 0xf5811712, 0xff5b32a0, 0xad8cd34e, 0x00000006, 0x0000003b, 0x000013c1, 0xe5b46797, 0x4d25c895},
     {0.397051036, 0.237357147, 0.785181046, 0.620697498, 0.0935309008, 1.2402873, 1.40431756, -0.317158451, 1.34245574, -1.6509769, 1.29073536, 2.09727749, 1.70871012, -17.7513995, 21.7803987, 14.0867615}},
};
static const sample wanted_four =
    {{0x32773955, 0x72c26332, 0x26a9bd1b, 0xd88ecb0d},
     {303.343445, -94.9183502, 2305.30566, 7.95211853}};

__global__ void draw_all(const unsigned long long (*c)[3], int count, sample *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 * count)
        return;
    if (i % 2)
        draw<curandStatePhilox4_32_10_t>(c[i / 2][0], c[i / 2][1], c[i / 2][2], out[i].words, out[i].numbers);
    else
        draw<curandState>(c[i / 2][0], c[i / 2][1], c[i / 2][2], out[i].words, out[i].numbers);
}
__global__ void draw_last(sample *out) { draw_four(out->words, out->numbers); }

// States in memory, as programs keep them: each thread its own subsequence; means of 64 numbers each.
__global__ void setup(curandState *states) { curand_init(7, blockIdx.x * blockDim.x + threadIdx.x, 0, &states[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void means(curandState *states, float *uniform, float *normal, float *poisson)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState own = states[i];
    float u = 0, n = 0, p = 0;
    for (int k = 0; k < 64; k++) {
        u += curand_uniform(&own);
        n += curand_normal(&own);
        p += (float)curand_poisson(&own, 400);
    }
    states[i] = own;
    uniform[i] = u / 64;
    normal[i] = n / 64;
    poisson[i] = p / 64;
}

static int compare(int k, const sample &got, const sample &expected, int words, int numbers)
{
    int wrong = 0;
    for (int i = 0; i < words; i++)
        if (got.words[i] != expected.words[i])
            wrong += printf("%d: word %d is %08x\n", k, i, got.words[i]);
    for (int i = 0; i < numbers; i++)
        if (!(fabs(got.numbers[i] - expected.numbers[i]) <= 2e-5 * (1 + fabs(expected.numbers[i]))))
            wrong += printf("%d: number %d is %.9g, not %.9g\n", k, i, got.numbers[i], expected.numbers[i]);
    return wrong;
}

int main()
{
    const int count = sizeof(cases) / sizeof(*cases);
    unsigned long long (*c)[3];
    sample *out, got[2 * count];
    cudaMalloc(&c, sizeof(cases));
    cudaMalloc(&out, sizeof(got));
    cudaMemcpy(c, cases, sizeof(cases), cudaMemcpyHostToDevice);
    draw_all<<<2, count>>>(c, count, out);
    cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int k = 0; k < 2 * count; k++)
        wrong += compare(k, got[k], wanted[k], 11, 16);
    draw_last<<<1, 1>>>(out);
    cudaMemcpy(got, out, sizeof(*got), cudaMemcpyDeviceToHost);
    wrong += compare(-1, got[0], wanted_four, 4, 4);
    printf("wrong: %d\n", wrong);
    // CHECK: wrong: 0

    const int n = 4096;
    curandState *states;
    float *x, *h = (float *)malloc(3 * n * sizeof(float));
    double mean[3] = {0, 0, 0};
    cudaMalloc(&states, n * sizeof(*states));
    cudaMalloc(&x, 3 * n * sizeof(float));
    setup<<<n / 128, 128>>>(states);
    means<<<n / 128, 128>>>(states, x, x + n, x + 2 * n);
    cudaMemcpy(h, x, 3 * n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 3 * n; k++)
        mean[k / n] += h[k] / n;
    printf("means: %d %d %d\n", fabs(mean[0] - 0.5) < 0.003, fabs(mean[1]) < 0.01, fabs(mean[2] - 400) < 0.3);
    // CHECK: means: 1 1 1
    free(h);
    return wrong;
}
