// SPDX-License-Identifier: Apache-2.0
// Launches that kmm/kmm.hpp refuses when they are compiled. test_cxx.py expects an error with the
// text of each line "expect:", and that there are no errors without REFUSED.
#include <functional>
#include <string>
#include <vector>

#include <kmm/kmm.hpp>

struct base {
    int a;
};
struct derived : base {
    int b;
};

int main()
{
    kmm::runtime rt;
    kmm::axis i(10), j(10);
    kmm::array<float> a(rt, 10);
    const kmm::array<float> constant(rt, 10);
    int n = 1;
    std::string text;
    std::vector<int> v;
    derived d{};
    rt.parallel(i).run([n](const kmm::chunk &, float *x) { x[0] = n; }, update(a[i]));
    rt.parallel(i).run([](const kmm::chunk &, const derived &) {}, d);
#ifdef REFUSED
    // expect: the lambda captures by reference
    rt.parallel(i).run([&n](const kmm::chunk &) { n++; });
    rt.parallel(i).run([&](const kmm::chunk &) { n++; });
    // expect: the function is copied as bytes
    rt.parallel(i).run([text](const kmm::chunk &) {});
    // expect: a lambda may not be mutable
    rt.parallel(i).run([n](const kmm::chunk &) mutable { n++; });
    rt.parallel(i).run([](const kmm::chunk &, float *) {}, read(a[i]));
    // expect: say what the function does with the array
    rt.parallel(i).run([](const kmm::chunk &, const float *) {}, a);
    rt.parallel(i).run([](const kmm::chunk &, const float *) {}, a[i]);
    // expect: an argument is copied as bytes
    rt.parallel(i).run([](const kmm::chunk &, const std::vector<int> &) {}, v);
    // expect: a reference does not last
    rt.parallel(i).run([](const kmm::chunk &, int) {}, std::ref(n));
    // expect: the array is const
    rt.parallel(i).run([](const kmm::chunk &, float *) {}, write(constant[i]));
    // expect: no more indices than dimensions
    (void)a[i][j];
    // expect: reduce() takes numbers
    kmm::array<base> structs(rt, 10);
    rt.parallel(i).run([](const kmm::chunk &, base *) {}, reduce(kmm::op::add, structs[0]));
    // expect: elements are copied as bytes
    kmm::array<std::string> texts(rt, 10);
    // expect: an array has 1 to
    kmm::array<float, 99> deep;
    // expect: no match for ‘operator*’
    (void)a[i * j];
    // expect: offsets are integers
    (void)a[kmm::part(std::vector<char>(3), i)];
    const std::vector<double> numbers(3);
    (void)a[kmm::part(numbers, i)];
    // expect: without a quotient
    (void)a[i / 2];
    // expect: use of deleted function
    kmm::array<float> copy(a);
    kmm::runtime twice(rt);
#endif
}
