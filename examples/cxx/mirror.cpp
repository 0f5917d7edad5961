// SPDX-License-Identifier: Apache-2.0
// libkmm from C++, by kmm/kmm.hpp: what examples/capi does in C. A matrix is mirrored in bands of
// rows and summed, on the CPU and on two pretend devices that hold half of it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <kmm/kmm.hpp>

using matrix = kmm::array<std::int32_t, 2>;

// Reverses each row.
static void mirror(const kmm::runtime &rt, std::int64_t rows, const matrix &in, matrix &out)
{
    kmm::axis x(in.extent(1)), y(in.extent(0));
    rt.parallel(x, y)
        .chunk(in.extent(1), rows)
        .run(
            [](const kmm::chunk &c, kmm::view<const std::int32_t, 2> from,
               kmm::view<std::int32_t, 2> to) {
                for (std::int64_t row : c.indices(1))
                    for (std::int64_t column : c.indices(0))
                        to[row][column] = from[row][from.extent(1) - 1 - column];
            },
            read(in[y][kmm::all]), write(out[y][x]));
}

static void add_up(const kmm::runtime &rt, const matrix &m, kmm::array<std::int64_t> &sum)
{
    kmm::axis y(m.extent(0));
    rt.parallel(y)
        .chunk(m.extent(0) / 7)
        .run(
            [](const kmm::chunk &c, kmm::view<const std::int32_t, 2> from, std::int64_t *to) {
                for (std::int64_t row : c.indices())
                    for (std::int64_t column = 0; column < from.extent(1); column++)
                        *to += from[row][column];
            },
            read(m[y]), reduce(kmm::op::add, sum[0]));
}

// Mirrors the matrix `in` twice over; true if it comes back and its sum is right.
static bool run(const kmm::runtime &rt, std::int64_t w, std::int64_t h,
                const std::vector<std::int32_t> &in, std::int64_t expected)
{
    matrix a(rt, h, w), b(rt, h, w);
    kmm::array<std::int64_t> sum(rt, 1);
    a.copy_from(in.data(), in.size());
    sum.fill(0);
    mirror(rt, h / 5, a, b);
    add_up(rt, b, sum);
    const std::vector<std::int32_t> once = b.to_vector();
    mirror(rt, h / 3, b, a);
    bool right = a.to_vector() == in && sum.to_vector()[0] == expected;
    for (std::int64_t y = 0; y < h; y++)
        for (std::int64_t x = 0; x < w; x++)
            right = right && once[y * w + x] == in[y * w + (w - 1 - x)];
    return right;
}

int main(int argc, char **argv)
{
    const long n = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 300;
    if (argc > 2 || n < 1 || n > 20000) {
        std::fprintf(stderr, "usage: mirror [columns, at most 20000]\n");
        return 2;
    }
    const std::int64_t w = n, h = 2 * n + 1;
    std::int64_t expected = 0;
    std::vector<std::int32_t> in(w * h);
    std::uint64_t z = 1;
    for (std::int32_t &element : in) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        element = static_cast<std::int32_t>(z >> 33);
        expected += element;
    }
    try {
        kmm_config_t cpu{}, pair{};
        cpu.devices = "host";
        pair.devices = "host:2";
        pair.device_mem = in.size() * sizeof(std::int32_t) + (1 << 18);
        pair.frame_bytes = 1 << 16;
        kmm::runtime on_cpu(cpu), on_pair(pair);
        const bool first = run(on_cpu, w, h, in, expected),
                   second = run(on_pair, w, h, in, expected);
        on_cpu.close();
        on_pair.close();
        std::printf("mirror: %lld x %lld, sum = %lld: %s, %s\n", static_cast<long long>(w),
                    static_cast<long long>(h), static_cast<long long>(expected),
                    first ? "ok" : "FAILED", second ? "ok" : "FAILED");
        return !(first && second);
    } catch (const kmm::error &e) {
        std::fprintf(stderr, "mirror: %s (%d)\n", e.what(), e.code());
        return 1;
    }
}
