// SPDX-License-Identifier: Apache-2.0
// kmm/kmm.hpp compared with plain loops, over sizes at the edges, on the devices that KMM_DEVICES
// names; its errors and exceptions.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <kmm/kmm.hpp>
#include <kmm/resource.hpp> // both fit into one program

using std::int64_t;

static int failures;

static void expect(bool holds, int line, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "test_kmm.cpp:%d: %s\n", line, what);
        failures++;
    }
}
#define EXPECT(x) expect(x, __LINE__, #x)

// Expects f() to throw kmm::error of this code, with a text that has `part` in it.
template <class F> static void expect_error(int line, int code, const char *part, F f)
{
    try {
        f();
        expect(false, line, "nothing was thrown");
    } catch (const kmm::error &e) {
        expect(e.code() == code && std::strstr(e.what(), part), line, e.what());
    }
}

static std::mt19937 random_bits(1);

static std::vector<double> random_vector(int64_t n)
{
    std::uniform_int_distribution<int> value(-1000, 1000);
    std::vector<double> v(n);
    for (double &x : v)
        x = value(random_bits);
    return v;
}

// c[i] = a[i-1] + a[i] + a[i+1], in the middle; then the reversed, the strided and the sum.
static void test_one_dimension(const kmm::runtime &rt, int64_t n, int64_t size)
{
    const std::vector<double> x = random_vector(n + 2);
    kmm::array<double> a(rt, x), c(rt, n), even(rt, 2 * n), sum(rt, 1);
    kmm::axis i(1, n + 1), k(n);
    rt.parallel(i).chunk(size).run(
        [](const kmm::chunk &part, const double *from, double *to) {
            for (int64_t j : part.indices())
                to[j - 1] = from[j - 1] + from[j] + from[j + 1];
        },
        read(a[kmm::range(i - 1, i + 2)]), write(c[i - 1]));
    even.fill(-1);
    rt.parallel(k).chunk(size).label("strided").run(
        [](const kmm::chunk &part, kmm::view<const double, 1> from, kmm::view<double, 1> to,
           int64_t count) {
            for (int64_t j : part.indices())
                to[2 * j] = from[count - 1 - j];
        },
        read(c[n - 1 - k]), write(even[2 * k]), n);
    sum.fill(5);
    rt.parallel(k).chunk(size).run(
        [](const kmm::chunk &part, const double *from, double *to) {
            for (int64_t j : part.indices())
                *to += from[j];
        },
        read(c[k]), reduce(kmm::op::add, sum[0]));
    kmm::array<double> sums(rt, n);
    rt.parallel(k).chunk(size).run(
        [](const kmm::chunk &part, const double *from, double *to) {
            for (int64_t j : part.indices()) {
                to[j] = 0;
                for (int64_t q = 0; q <= j; q++)
                    to[j] += from[q];
            }
        },
        read(c[kmm::range(0, k + 1)]), write(sums[k]));
    const std::vector<double> y = c.to_vector(), z = even.to_vector(), s = sums.to_vector();
    double expected = 5;
    bool right = static_cast<int64_t>(y.size()) == n && static_cast<int64_t>(z.size()) == 2 * n;
    for (int64_t j = 0; right && j < n; j++) {
        right =
            y[j] == x[j] + x[j + 1] + x[j + 2] && z[2 * j] == y[n - 1 - j] && z[2 * j + 1] == -1;
        expected += y[j];
        right = right && s[j] + 5 == expected;
    }
    EXPECT(right);
    EXPECT(sum.to_vector()[0] == expected);
}

// Three dimensions, one of them whole: transposed planes, each row by its maximum.
static void test_three_dimensions(const kmm::runtime &rt, int64_t d, int64_t h, int64_t w)
{
    const std::vector<double> x = random_vector(d * h * w);
    kmm::array<double, 3> a(rt, d, h, w), b(rt, d, w, h);
    kmm::array<double, 2> largest(rt, d, h);
    a.copy_from(x.data(), x.size());
    kmm::axis i(w), j(h), k(d);
    rt.parallel(i, j, k).chunk(3, 2, 1).run(
        [](const kmm::chunk &c, kmm::view<const double, 3> from, kmm::view<double, 3> to) {
            for (int64_t z : c.indices(2))
                for (int64_t y : c.indices(1))
                    for (int64_t q : c.indices(0))
                        to[z][q][y] = from[z][y][q];
        },
        read(a[k][j][i]), write(b[k][i][j]));
    kmm::axis p(h), q(d);
    rt.parallel(p, q).run(
        [](const kmm::chunk &c, kmm::view<const double, 3> from, kmm::view<double, 2> to) {
            for (int64_t z : c.indices(1))
                for (int64_t y : c.indices(0))
                    for (int64_t r = 0; r < from.extent(1); r++)
                        if (r == 0 || to[z][y] < from[z][r][y])
                            to[z][y] = from[z][r][y];
        },
        read(b[q][kmm::all][p]), update(largest[q][p]));
    const std::vector<double> t = b.to_vector(), m = largest.to_vector();
    bool right = true;
    for (int64_t z = 0; z < d; z++)
        for (int64_t y = 0; y < h; y++) {
            double most = w ? x[(z * h + y) * w] : 0;
            for (int64_t r = 0; r < w; r++) {
                right = right && t[(z * w + r) * h + y] == x[(z * h + y) * w + r];
                most = std::max(most, x[(z * h + y) * w + r]);
            }
            right = right && (!w || m[z * h + y] == most);
        }
    EXPECT(right);
}

// Six dimensions: each element [a][b][c][d][e][f] with those before and behind it in a and d; and
// a region that has no box.
static void test_six_dimensions(const kmm::runtime &rt, int64_t n, int64_t m)
{
    const std::vector<double> x = random_vector(n * 2 * m * 3 * 2 * m);
    kmm::array<double, 6> from(rt, n, 2, m, 3, 2, m), to(rt, n, 2, m, 3, 2, m);
    const int64_t step = 2 * m, plane = 2 * m * 3 * step;
    from.copy_from(x.data(), x.size());
    kmm::axis i(n), j(3);
    rt.parallel(j, i).chunk(1, 2).run(
        [n, m](const kmm::chunk &c, kmm::view<const double, 6> s, kmm::view<double, 6> t) {
            for (int64_t a : c.indices(1))
                for (int64_t d : c.indices(0))
                    for (int64_t k = 0; k < 2 * m * 2 * m; k++) {
                        const int64_t b = k / (2 * m), e = k % (2 * m);
                        const auto at = [&](int64_t q, int64_t r) {
                            return s[q][b / m][b % m][r][e / m][e % m];
                        };
                        t[a][b / m][b % m][d][e / m][e % m] =
                            at(a, d) + (a ? at(a - 1, d) : 0) + (a + 1 < n ? at(a + 1, d) : 0) +
                            (d ? at(a, d - 1) : 0);
                    }
        },
        read(from[kmm::range(i - 1, i + 2)][kmm::all][kmm::all][kmm::range(j - 1, j + 1)]),
        write(to[i][kmm::all][kmm::all][j]));
    const std::vector<double> y = to.to_vector();
    bool right = y.size() == x.size();
    for (int64_t k = 0; right && k < static_cast<int64_t>(x.size()); k++) {
        const int64_t a = k / plane, d = k / step % 3;
        right = y[k] == x[k] + (a ? x[k - plane] : 0) + (a + 1 < n ? x[k + plane] : 0) +
                            (d ? x[k - step] : 0);
    }
    EXPECT(right);
    kmm::axis k(1);
    if (n && m)
        expect_error(__LINE__, KMM_E_UNSUPPORTED, "joined with the dimension outside it", [&] {
            rt.parallel(k).run([](const kmm::chunk &, const double *) {},
                               read(from[k][k][k][k][k]));
        });
}

struct particle {
    float x[3];
    int kind;
};

static void move(const kmm::chunk &c, particle *p, float by)
{
    for (int64_t k : c.indices())
        p[k].x[1] += by * static_cast<float>(p[k].kind);
}

static void test_types(const kmm::runtime &rt)
{
    const std::list<particle> some(100, particle{{1, 2, 3}, 4});
    kmm::array<particle> p(rt, some.begin(), some.end());
    kmm::axis i(100);
    rt.parallel(i).chunk(30).run(move, update(p[i]), 0.5f);
    EXPECT(p.to_vector()[99].x[1] == 4);

    using complex = std::complex<double>;
    kmm::array<complex> product(rt, 1);
    kmm::array<unsigned char> bits(rt, 1);
    kmm::array<bool> any(rt, 1);
    product.fill(complex(1, 1));
    bits.fill(1);
    any.fill(false);
    rt.parallel(i).chunk(7).run(
        [](const kmm::chunk &c, complex *a, unsigned char *b, bool *d) {
            for (int64_t k : c.indices()) {
                *a *= complex(0, 1);
                *b = static_cast<unsigned char>(*b ^ (1u << k % 8));
                *d = *d || k == 66;
            }
        },
        reduce(kmm::op::multiply, product), reduce(kmm::op::bit_xor, bits[0]),
        reduce(kmm::op::logical_or, any[0]));
    bool found;
    any.copy_to(&found, 1);
    EXPECT(product.to_vector()[0] == complex(1, 1) && found);
    EXPECT(bits.to_vector()[0] == (1 ^ 0x0f)); // bits 0 to 3 an odd number of times
}

static void test_host_memory(const kmm::runtime &rt)
{
    std::vector<float> x(1000, 1), y(1000, 0);
    const std::vector<float> factors(1000, 3);
    kmm::axis i(1000);
    {
        kmm::mapped<float> a(rt, x), b(rt, y.data(), 1000);
        kmm::mapped<const float> f(rt, factors);
        const auto times = [](const kmm::chunk &c, const float *from, const float *by, float *to) {
            for (int64_t k : c.indices())
                to[k] += from[k] * by[k];
        };
        rt.parallel(i).chunk(300).run(times, read(a[i]), read(f[i]), update(b[i]));
        b.update_from();
        EXPECT(y[999] == 3);
        y[999] = 7;
        b.update_to();
        rt.parallel(i).chunk(300).run(times, read(a[i]), read(f[i]), update(b[i]));
        kmm::mapped<float> moved(std::move(b));
        moved.unmap();
        EXPECT(y[999] == 10);
    }
    EXPECT(y[0] == 6);
}

// A kernel for the CPU, as kmmcc makes them: adds 1 to n elements.
static void add_one(const kmm_host_blocks_t *b, void **arguments)
{
    float *x = *static_cast<float **>(arguments[0]);
    const int n = *static_cast<int *>(arguments[1]);
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint32_t t = 0; t < b->block[0]; t++) {
            const int64_t i = static_cast<int64_t>(b->offset[0] + k) * b->block[0] + t;
            if (i < n)
                x[i] += 1;
        }
}

static void test_kernel(const kmm::runtime &rt, int n)
{
    static const uint32_t bytes[] = {sizeof(float *), sizeof(int)};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "add_one", add_one, nullptr, 2, bytes, 0, nullptr};
    kmm::array<float> a(rt, n);
    a.fill(2);
    kmm::axis i(n);
    kmm_geometry_t grid = {};
    grid.grid[0] = static_cast<uint32_t>((n + 31) / 32);
    grid.block[0] = 32;
    grid.grid[1] = grid.grid[2] = grid.block[1] = grid.block[2] = 1;
    rt.parallel(i).chunk(64).run(kernel, grid, update(a[i]), n);
    EXPECT(a.to_vector() == std::vector<float>(n, 3));
}

static void test_errors(kmm::runtime &rt)
{
    kmm::axis i(100), j(100);
    kmm::array<int> a(rt, 100), b(rt, 99);
    const auto nothing = [](const kmm::chunk &, const int *) {};
    expect_error(__LINE__, KMM_E_INVALID, "argument 1: an index has an axis",
                 [&] { rt.parallel(i).run(nothing, read(a[j])); });
    expect_error(__LINE__, KMM_E_OVERLAP, "test_kmm.cpp", [&] {
        rt.parallel(i).chunk(10).run([](const kmm::chunk &, int *) {}, write(a[0]));
        rt.wait();
    });
    int *const name = a.name();
    expect_error(__LINE__, KMM_E_INVALID, "no access clause names", [&] {
        rt.parallel(i).run([name](const kmm::chunk &) { *name = 1; });
        rt.wait();
    });
    expect_error(__LINE__, KMM_E_RANGE, "", [&] { a.copy_to(nullptr, 1, 100); });
    expect_error(__LINE__, KMM_E_RANGE, "", [&] { a.copy_from(b); });
    expect_error(__LINE__, KMM_E_RANGE, "", [&] { kmm::array<int, 2>(rt, 3, -1); });
    expect_error(__LINE__, KMM_E_RANGE, "64 bits", [&] { (INT64_MAX * i) * 2; });
    kmm_config_t none{};
    none.devices = "nonsense";
    expect_error(__LINE__, KMM_E_INVALID, "nonsense", [&] { kmm::runtime r(none); });
}

// Of the chunks that throw, the first one's exception comes, once, where the program waits.
static void test_exceptions(kmm::runtime &rt)
{
    kmm::axis i(100);
    kmm::array<int> a(rt, 100);
    a.fill(0);
    const auto throws = [](const kmm::chunk &c, int *x, int64_t from) {
        for (int64_t k : c.indices()) {
            if (k >= from)
                throw std::out_of_range("at " + std::to_string(k));
            x[k] = 1;
        }
    };
    for (int round = 0; round < 20; round++) {
        std::string text;
        rt.parallel(i).chunk(10).run(throws, update(a[i]), int64_t{35});
        rt.parallel(i).chunk(10).run(throws, update(a[i]), int64_t{5});
        try {
            if (round % 2)
                rt.wait();
            else
                a.to_vector();
        } catch (const std::out_of_range &e) {
            text = e.what();
        }
        rt.wait();
        EXPECT(text == "at 35");
    }
    EXPECT(a.to_vector()[34] == 1);
}

struct gate {
    std::atomic<bool> is_open{false};
};

static void test_events(kmm::runtime &rt)
{
    using namespace std::chrono_literals;
    gate g, *const pass = &g;
    kmm::array<int> a(rt, 100), b(rt, 100);
    kmm::axis i(100);
    const auto fill = [&](kmm::array<int> &to, gate *until) {
        return rt.record([&] {
            rt.parallel(i).chunk(50).run(
                [until](const kmm::chunk &c, int *x) {
                    while (until && !until->is_open)
                        std::this_thread::yield();
                    for (const int64_t k : c.indices())
                        x[k] = 7;
                },
                write(to[i]));
        });
    };
    kmm::event none, held = fill(a, pass), other = fill(b, nullptr);
    none.wait();
    EXPECT(none.is_done() && !held.is_done() && !held.wait_for(2ms) && !held.wait_for(-1s));
    kmm::event both = rt.join(held, other, none);
    other = kmm::event();
    EXPECT(!both.wait_for(1us));
    g.is_open = true;
    both.wait();
    EXPECT(both.is_done() && held.is_done() && held.wait_for(0s));
    EXPECT(a.to_vector() == std::vector<int>(100, 7) && b.to_vector() == a.to_vector());

    kmm::event thrower = rt.record([&] {
        rt.parallel(i).run([](const kmm::chunk &) { throw std::out_of_range("of the event"); });
    });
    std::string text;
    try {
        thrower.wait();
    } catch (const std::out_of_range &e) {
        text = e.what();
    }
    EXPECT(text == "of the event");
    expect_error(__LINE__, KMM_E_STATE, "begun", [&] { rt.record([&] { fill(a, nullptr); }); });
    fill(a, nullptr).wait(); // what threw in record() has ended its event
}

static void test_devices(kmm::runtime &rt)
{
    kmm::array<int> a(rt, 120);
    kmm::axis i(120);
    const auto launch = [&](auto... numbers) {
        rt.parallel(i).chunk(10).device(numbers...).run(
            [](const kmm::chunk &c, int *x) {
                for (const int64_t k : c.indices())
                    x[k] = 5;
            },
            write(a[i]));
        rt.wait();
    };
    const int last = rt.device_count() - 1;
    std::vector<uint64_t> before;
    for (int k = 0; k <= last; k++)
        before.push_back(rt.device(k).chunks);
    launch(0, last);
    EXPECT(a.to_vector() == std::vector<int>(120, 5));
    for (int k = 0; k <= last; k++)
        EXPECT((rt.device(k).chunks > before[static_cast<std::size_t>(k)]) == (k == 0 || k == last));
    expect_error(__LINE__, KMM_E_NO_DEVICE, "devices it can run on", [&] { launch(0, last + 1); });
}

static void test_moves(kmm::runtime rt)
{
    kmm::runtime other(std::move(rt));
    kmm::array<int> a(other, 10), b;
    a.fill(3);
    b = std::move(a);
    kmm::array<int> c(std::move(b)), d(other, 10);
    d.copy_from(c);
    EXPECT(a.empty() && b.empty() && d.to_vector() == std::vector<int>(10, 3));
    EXPECT(a.to_vector().empty());
    kmm::axis none(0);
    other.parallel(none).run([](const kmm::chunk &) { std::abort(); });
    expect_error(__LINE__, KMM_E_STATE, "", [&] { rt.wait(); });
    other.close();
    expect_error(__LINE__, KMM_E_STATE, "", [&] { d.fill(1); });
}

// y = A x, with the rows of A in CSR form: some are empty, and some are long. Then each row of A is
// doubled.
template <class T> static void test_parts(const kmm::runtime &rt, int64_t n, int64_t size)
{
    std::uniform_int_distribution<int> width(-2, 9);
    std::vector<T> row(1, 0);
    for (int64_t r = 0; r < n; r++)
        row.push_back(static_cast<T>(row.back() + static_cast<T>(std::max(width(random_bits), 0))));
    const auto count = static_cast<int64_t>(row.back());
    const std::vector<double> a = random_vector(count);
    kmm::array<double> values(rt, a), y(rt, n);
    kmm::array<T> begins(rt, row);
    kmm::axis r(n);
    rt.parallel(r).chunk(size).run(
        [](const kmm::chunk &c, const T *begin, const double *from, double *to) {
            for (int64_t i : c.indices()) {
                to[i] = 0;
                for (T k = begin[i]; k < begin[i + 1]; k++)
                    to[i] += from[k];
            }
        },
        read(begins[kmm::range(r, r + 2)]), read(values[kmm::part(row, r)]), write(y[r]));
    rt.parallel(r).chunk(size).run(
        [](const kmm::chunk &c, const T *begin, double *at) {
            for (int64_t i : c.indices())
                for (T k = begin[i]; k < begin[i + 1]; k++)
                    at[k] *= 2;
        },
        read(begins[kmm::range(r, r + 2)]), update(values[kmm::part(row, r)]));
    const std::vector<double> sums = y.to_vector(), doubled = values.to_vector();
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (T k = row[i]; k < row[i + 1]; k++) {
            sum += a[k];
            EXPECT(doubled[k] == 2 * a[k]);
        }
        EXPECT(sums[i] == sum);
    }
}

int main(int argc, char **)
{
    if (argc > 1) { // an exception that nobody waits for: the test expects a message and a failure
        kmm::runtime rt;
        kmm::axis i(10);
        rt.parallel(i).run([](const kmm::chunk &) { throw std::runtime_error("nobody asked"); });
        return 0;
    }
    kmm::runtime rt;
    for (int64_t n : {0, 1, 2, 7, 64, 1000, 4099})
        for (int64_t size : {1, 3, 64, 5000})
            if (n / size < 200)
                test_one_dimension(rt, n, size);
    test_parts<int>(rt, 1000, 64);
    test_parts<unsigned>(rt, 3, 1);
    test_parts<int64_t>(rt, 4099, 5000);
    test_parts<std::size_t>(rt, 100, 7);
    test_three_dimensions(rt, 0, 4, 5);
    test_three_dimensions(rt, 1, 1, 1);
    test_three_dimensions(rt, 3, 5, 7);
    test_six_dimensions(rt, 0, 2);
    test_six_dimensions(rt, 1, 1);
    test_six_dimensions(rt, 7, 3);
    test_types(rt);
    test_host_memory(rt);
    test_kernel(rt, 1);
    test_kernel(rt, 1000);
    test_exceptions(rt);
    test_errors(rt);
    test_events(rt);
    test_devices(rt);
    test_moves(kmm::runtime());
    kmm::runtime process = kmm::runtime::of_process();
    test_one_dimension(process, 100, 7);
    EXPECT(process.device_count() >= 1 && process.device(0).name[0] != 0);
    rt.close();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
