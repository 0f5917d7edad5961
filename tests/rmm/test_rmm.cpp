// SPDX-License-Identifier: Apache-2.0
// A program that was written for RMM: only RMM's headers and names. It runs on the fake driver,
// whose memory the host can read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <rmm/cuda_stream.hpp>
#include <rmm/cuda_stream_pool.hpp>
#include <rmm/device_buffer.hpp>
#include <rmm/device_scalar.hpp>
#include <rmm/device_uvector.hpp>
#include <rmm/mr/device/aligned_resource_adaptor.hpp>
#include <rmm/mr/device/arena_memory_resource.hpp>
#include <rmm/mr/device/binning_memory_resource.hpp>
#include <rmm/mr/device/cuda_async_memory_resource.hpp>
#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <rmm/mr/device/failure_callback_resource_adaptor.hpp>
#include <rmm/mr/device/limiting_resource_adaptor.hpp>
#include <rmm/mr/device/logging_resource_adaptor.hpp>
#include <rmm/mr/device/managed_memory_resource.hpp>
#include <rmm/mr/device/owning_wrapper.hpp>
#include <rmm/mr/device/per_device_resource.hpp>
#include <rmm/mr/device/polymorphic_allocator.hpp>
#include <rmm/mr/device/pool_memory_resource.hpp>
#include <rmm/mr/device/prefetch_resource_adaptor.hpp>
#include <rmm/mr/device/statistics_resource_adaptor.hpp>
#include <rmm/mr/device/thread_safe_resource_adaptor.hpp>
#include <rmm/mr/device/tracking_resource_adaptor.hpp>
#include <rmm/mr/host/new_delete_resource.hpp>
#include <rmm/mr/pinned_host_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp> // the path of later versions

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

namespace
{

using cuda_mr = rmm::mr::cuda_memory_resource;
using pool_mr = rmm::mr::pool_memory_resource<cuda_mr>;
constexpr std::size_t MiB = std::size_t{1} << 20;

template <class Exception, class Call> std::string thrown(Call call)
{
    try {
        call();
    } catch (const Exception &e) {
        return e.what();
    }
    return "";
}

bool all_are(const void *p, std::size_t bytes, char value)
{
    for (std::size_t i = 0; i < bytes; i++)
        if (static_cast<const char *>(p)[i] != value)
            return false;
    return true;
}

void containers()
{
    rmm::cuda_stream stream;
    const std::vector<int> host{1, 2, 3, 4};
    rmm::device_buffer b(host.data(), 16, stream);
    rmm::device_buffer copy(b, stream);
    copy.resize(1000, stream);
    CHECK(copy.size() == 1000 && copy.capacity() == 1000 && copy.stream() == stream.view());
    copy.resize(8, stream);
    copy.shrink_to_fit(stream);
    CHECK(copy.capacity() == 8 && b.size() == 16);
    rmm::device_buffer moved(std::move(copy));
    stream.synchronize();
    CHECK(static_cast<int *>(moved.data())[1] == 2 && copy.is_empty());
    CHECK(thrown<rmm::logic_error>([&] { rmm::device_buffer(nullptr, 1, stream); }) != "");

    rmm::device_uvector<int> v(4, stream);
    const int value = 42;
    v.set_element(3, value, stream);
    v.set_element_to_zero_async(0, stream);
    v.reserve(100, stream);
    CHECK(v.back_element(stream) == 42 && v.front_element(stream) == 0 && v.capacity() == 100);
    CHECK(thrown<rmm::out_of_range>([&] { v.element(4, stream); }) != "");
    CHECK(v.release().size() == 16);

    rmm::device_scalar<double> s(stream);
    const double d = 1.5;
    s.set_value_async(d, stream);
    CHECK(s.value(stream) == 1.5);
}

void pools()
{
    cuda_mr cuda;
    {
        pool_mr pool(&cuda, MiB, 2 * MiB);
        CHECK(pool.pool_size() == MiB);
        void *p = pool.allocate(MiB + 1);
        const std::string text = thrown<rmm::out_of_memory>([&] { pool.allocate(3 * MiB); });
        CHECK(text.find("Maximum pool size exceeded") != std::string::npos);
        pool.deallocate(p, MiB + 1);
        CHECK(pool == pool && pool != pool_mr(&cuda, 0));
    }
    rmm::mr::aligned_resource_adaptor<cuda_mr> aligned(&cuda, 4096);
    pool_mr empty(&cuda, 0);
    for (rmm::mr::device_memory_resource *r :
         std::vector<rmm::mr::device_memory_resource *>{&cuda, &aligned, &empty})
        for (std::size_t less : {0, 1, 300}) // rounded up, the first two are 0
            CHECK(thrown<rmm::out_of_memory>([&] { r->allocate(SIZE_MAX - less); }) != "");
    CHECK(thrown<rmm::logic_error>([&] { pool_mr(&cuda, 100); }) != "");
    CHECK(thrown<rmm::logic_error>([&] { pool_mr(&cuda, 1024, 512); }) != "");
    CHECK(thrown<rmm::logic_error>([] { pool_mr(nullptr, 0); }) != "");

    // A resource of the program as upstream, and what it throws.
    struct none : rmm::mr::device_memory_resource {
        void *do_allocate(std::size_t, rmm::cuda_stream_view) override
        {
            throw std::runtime_error("nothing today");
        }
        void do_deallocate(void *, std::size_t, rmm::cuda_stream_view) override {}
    } nothing;
    rmm::mr::pool_memory_resource<none> on_nothing(&nothing, 0);
    const std::string text = thrown<rmm::out_of_memory>([&] { on_nothing.allocate(1); });
    CHECK(text.find("nothing today") != std::string::npos);

    rmm::mr::arena_memory_resource<cuda_mr> arena(&cuda, 8 * MiB);
    rmm::mr::binning_memory_resource<cuda_mr> bins(&cuda, 10, 12);
    rmm::mr::cuda_async_memory_resource driver(MiB);
    CHECK(driver.pool_handle());
    rmm::mr::managed_memory_resource managed;
    rmm::mr::pinned_host_memory_resource pinned;
    rmm::mr::pool_memory_resource<rmm::mr::pinned_host_memory_resource> pinned_pool(&pinned, MiB);
    rmm::cuda_stream stream;
    for (rmm::device_async_resource_ref r :
         {rmm::device_async_resource_ref(arena), rmm::device_async_resource_ref(bins),
          rmm::device_async_resource_ref(driver), rmm::device_async_resource_ref(managed),
          rmm::device_async_resource_ref(pinned), rmm::device_async_resource_ref(pinned_pool)})
        for (std::size_t bytes : {1, 1025, 100000}) {
            void *p = r.allocate_async(bytes, stream.view());
            CHECK(rmm::is_pointer_aligned(p));
            r.deallocate_async(p, bytes, stream.view());
        }
    rmm::mr::new_delete_resource host;
    void *p = host.allocate(100, 64);
    CHECK(rmm::is_pointer_aligned(p, 64));
    host.deallocate(p, 100, 64);
}

// Copies take long here, so a stream that should have waited for another one is seen.
void streams()
{
    cuda_mr cuda;
    rmm::mr::device_memory_resource *upstream = &cuda;
    pool_mr pool(upstream, 4 * MiB, 4 * MiB);
    for (bool destroys : {false, true}) {
        rmm::cuda_stream halves[2], b, c;
        char *half[2];
        for (int i = 0; i < 2; i++)
            half[i] = static_cast<char *>(pool.allocate(2 * MiB, halves[i]));
        for (int i = 0; i < 2; i++) {
            for (int n = 0; n < 2; n++) // the driver writes, and is done later
                cudaMemsetAsync(half[i], 1, 2 * MiB, halves[i].value());
            pool.deallocate(half[i], 2 * MiB, halves[i]);
        }
        if (destroys) // as RMM's programs may: nobody is told
            for (rmm::cuda_stream &s : halves)
                rmm::cuda_stream(std::move(s));
        // b waits for both halves, and owns the rest of them without ever freeing something.
        void *joined = pool.allocate(3 * MiB, b);
        auto *rest = static_cast<char *>(pool.allocate(MiB, c));
        cudaMemsetAsync(rest, 2, MiB, c.value());
        c.synchronize();
        CHECK(all_are(rest, MiB, 2));
        if (!destroys)
            for (const rmm::cuda_stream &s : halves)
                s.synchronize();
        CHECK(all_are(rest, MiB, 2));
        pool.deallocate(joined, 3 * MiB, b);
        pool.deallocate(rest, MiB, c);
        b.synchronize();
        c.synchronize();
    }
    rmm::cuda_stream_pool several(3);
    CHECK(several.get_stream(1) == several.get_stream(4) && several.get_pool_size() == 3);
    CHECK(thrown<rmm::logic_error>([] { rmm::cuda_stream_pool(0); }) != "");
}

void adaptors()
{
    cuda_mr cuda;
    rmm::mr::limiting_resource_adaptor<cuda_mr> limited(&cuda, 1000);
    CHECK(thrown<rmm::out_of_memory>([&] { limited.allocate(1001); }) != "");
    CHECK(limited.get_allocated_bytes() == 0);
    int calls = 0;
    rmm::mr::failure_callback_resource_adaptor<decltype(limited)> failure(
        &limited, [](std::size_t, void *n) { return ++*static_cast<int *>(n) < 3; }, &calls);
    CHECK(thrown<rmm::bad_alloc>([&] { failure.allocate(MiB); }) != "" && calls == 3);

    rmm::mr::statistics_resource_adaptor<cuda_mr> counts(&cuda);
    void *p = counts.allocate(100);
    counts.push_counters();
    void *q = counts.allocate(50);
    counts.deallocate(q, 50);
    CHECK(counts.pop_counters().first.peak == 50 && counts.get_bytes_counter().peak == 150);
    CHECK(counts.get_allocations_counter().total == 2);
    counts.deallocate(p, 100);
    CHECK(thrown<std::out_of_range>([&] { counts.pop_counters(); }) != "");

    rmm::mr::tracking_resource_adaptor<cuda_mr> tracked(&cuda, true);
    p = tracked.allocate(100);
    CHECK(tracked.get_outstanding_allocations().at(p).allocation_size == 100);
    CHECK(tracked.get_outstanding_allocations_str().find("callstack") != std::string::npos);
    tracked.deallocate(p, 100);
    CHECK(tracked.get_allocated_bytes() == 0);

    rmm::mr::aligned_resource_adaptor<cuda_mr> aligned(&cuda, 4096);
    p = aligned.allocate(100);
    CHECK(rmm::is_pointer_aligned(p, 4096));
    aligned.deallocate(p, 100);

    std::ostringstream log;
    rmm::mr::logging_resource_adaptor<cuda_mr> logged(&cuda, log);
    logged.deallocate(logged.allocate(100), 100);
    CHECK(log.str().rfind("Thread,Time,Action,Pointer,Size,Stream\n", 0) == 0);
    CHECK(log.str().find(",free,0x") != std::string::npos);
    CHECK(logged == rmm::mr::logging_resource_adaptor<cuda_mr>(&cuda, log));

    auto owned = rmm::mr::make_owning_wrapper<rmm::mr::pool_memory_resource>(
        std::make_shared<cuda_mr>(), MiB);
    rmm::mr::thread_safe_resource_adaptor<rmm::mr::device_memory_resource> safe(owned.get());
    rmm::mr::prefetch_resource_adaptor<rmm::mr::device_memory_resource> ahead(&safe);
    rmm::mr::stream_allocator_adaptor a(rmm::mr::polymorphic_allocator<int>(&ahead),
                                        rmm::cuda_stream_view{});
    a.deallocate(a.allocate(10), 10);
}

void devices()
{
    cuda_mr cuda;
    rmm::cuda_set_device_raii first(rmm::cuda_device_id{0});
    CHECK(rmm::get_num_cuda_devices() == 2);
    auto *initial = rmm::mr::get_current_device_resource();
    CHECK(initial->is_equal(cuda));
    void *p = cuda.allocate(100);
    {
        rmm::cuda_set_device_raii second(rmm::cuda_device_id{1});
        pool_mr pool(&cuda, MiB);
        CHECK(rmm::mr::set_current_device_resource(&pool) == initial);
        rmm::device_buffer b(100, rmm::cuda_stream_view{});
        rmm::cuda_set_device_raii back(rmm::cuda_device_id{0});
        rmm::mr::device_memory_resource &as_set = pool;
        CHECK(b.memory_resource() == rmm::device_async_resource_ref(as_set));
        b = rmm::device_buffer();
        rmm::mr::set_per_device_resource(rmm::cuda_device_id{1}, nullptr);
    }
    {
        rmm::cuda_set_device_raii second(rmm::cuda_device_id{1});
        cuda_mr().deallocate(p, 100); // of device 0, at another object
    }
    CHECK(rmm::mr::get_per_device_resource(rmm::cuda_device_id{1}) == initial);
}

// Each thread's default stream is one of its own.
void threads()
{
    cuda_mr cuda;
    pool_mr pool(&cuda, 4 * MiB, 4 * MiB);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([&] {
            rmm::cuda_stream stream;
            for (int i = 0; i < 200; i++) {
                rmm::device_uvector<int> v(static_cast<std::size_t>(1 + i * 37), stream, &pool);
                const int value = i;
                v.set_element(0, value, stream);
                CHECK(v.element(0, stream) == i);
            }
        });
    for (auto &t : all)
        t.join();
}

} // namespace

int main()
{
    containers();
    pools();
    streams();
    adaptors();
    devices();
    threads();
}
