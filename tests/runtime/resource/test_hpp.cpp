// SPDX-License-Identifier: Apache-2.0
// The C++ header: containers on a pool, exceptions, owners.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <kmm/resource.hpp>

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

template <class Exception, class Function> static bool throws(Function f)
{
    try {
        f();
    } catch (const Exception &e) {
        return std::strlen(e.what()) > 0;
    }
    return false;
}

int main()
{
    kmm::unique_resource host = kmm::make(kmm_host_resource_create);
    kmm::unique_resource statistics = kmm::make(kmm_statistics_resource_create, host.get());
    const kmm_pool_options_t options = {1 << 20, 0, 0, 0, KMM_REUSE_GROW_FIRST};
    kmm::unique_resource pool = kmm::make(kmm_pool_resource_create, statistics.get(), &options);
    kmm::pmr_resource memory(pool.get()), same(pool.get()), other(host.get());
    {
        std::pmr::vector<std::pmr::string> words(&memory);
        for (int i = 0; i < 1000; i++)
            words.push_back(std::pmr::string(100, static_cast<char>('a' + i % 26), &memory));
        require(words[27] == std::pmr::string(100, 'b'), "elements keep their values");
        require(reinterpret_cast<std::size_t>(words.data()) % 256 == 0, "alignment");
    }
    kmm_resource_usage_t usage;
    kmm::check(kmm_resource_usage(pool.get(), &usage));
    require(usage.live_count == 0 && usage.held_bytes >= 1 << 20, "a container gives everything back");
    void *none = memory.allocate(0), *none_too = memory.allocate(0);
    require(none && none != none_too, "zero bytes have an address of their own");
    memory.deallocate(none, 0);
    memory.deallocate(none_too, 0);
    require(memory == same && !(memory == other), "equality");
    require(throws<std::bad_alloc>([&] { (void)memory.allocate(std::size_t(1) << 60); }), "out of memory");
    require(throws<std::invalid_argument>([&] { kmm::make(kmm_pool_resource_create, static_cast<kmm_resource_t *>(nullptr),
                                                           static_cast<const kmm_pool_options_t *>(nullptr)); }), "no upstream");
    require(throws<std::invalid_argument>([] { kmm::pmr_resource nothing(nullptr); }), "no resource");
    {
        kmm::buffer a("text", 5, nullptr, pool.get()), b;
        b = std::move(a);
        b.resize(100, nullptr);
        require(!std::strcmp(static_cast<const char *>(b.data()), "text") && b.size() == 100 && b.capacity() >= 100, "a buffer keeps what it holds");
        kmm::buffer c(std::move(b));
        require(!b.data() && c.data(), "a buffer is moved");
        c.shrink_to_fit(nullptr);
        c.set_stream(nullptr);
        kmm::vector<double> v(3, nullptr, pool.get()), none;
        v.set_element(2, 2.5);
        v.resize(1000, nullptr);
        require(v.element(2) == 2.5 && v.data()[2] == 2.5 && v.end() - v.begin() == 1000, "a vector keeps its elements");
        none = std::move(v);
        require(none.size() == 1000 && v.is_empty(), "a vector is moved");
        require(throws<std::runtime_error>([&] { (void)none.element(1000); }), "an element that is not there");
        require(throws<std::bad_alloc>([&] { kmm::vector<int> huge(SIZE_MAX / 4, nullptr, pool.get()); }), "a vector that is too large");
        kmm::scalar<int> s(41, nullptr, pool.get());
        s.set_value(s.value() + 1);
        require(s.value() == 42 && *s.data() == 42, "a scalar");
        kmm::check(kmm_buffer_fill(c.c(), 0, 7, 5));
        require(static_cast<const char *>(c.data())[4] == 7, "the C functions take what is owned");
    }
    kmm::check(kmm_resource_usage(pool.get(), &usage));
    require(usage.live_count == 0, "owners give everything back");
    return 0;
}
