// -fkmm-check and variables that all chunks of a C++ function share: the library's locks, call_once, the first value of a local static variable,
// atomic variables and those of a thread are right; an object that grows is not. Sanitizers have such calls of their own.
// RUN: %if !san %{ %kmmcc -fkmm-check -fno-kmm-compare -w %s -o %t %}
// RUN: %if !san %{ %t proper 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t proper 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RIGHT-NOT: kmm:
// RIGHT: done 6142 4 0
// Nodes of queue locks lie on a chunk's stack or in memory of its own, and threads that a chunk starts allocate and free what it fills.
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t queued 2>&1 | FileCheck --check-prefix=QUEUED %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t helped 2>&1 | FileCheck --check-prefix=QUEUED %s %}
// QUEUED-NOT: kmm:
// QUEUED: done 6142
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t counted 2>&1 | FileCheck --check-prefix=COUNTED %s %}
// COUNTED: {{the|another}} chunk stores to the global variable '{{.*}}under_lock'
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t grows 2>&1 | FileCheck --check-prefix=GROWS %s %}
// GROWS: {{the|another}} chunk stores to the global variable 'sizes', which all chunks share
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t counts 2>&1 | FileCheck --check-prefix=COUNTS %s %}
// COUNTS: check_each.cpp:[[#]]: {{the|another}} chunk stores to the global variable '{{.*}}counts::calls', which all chunks share
// A chunk that throws leaves out the rest of its `write` item, which is no error; one that only leaves it out is.
// RUN: %if !san %{ env KMM_DEVICES=host %t throws 2>&1 | FileCheck --check-prefix=THROWS %s %}
// RUN: %if !san %{ env KMM_DEVICES=host KMM_CHECK=access %t throws 2>&1 | FileCheck --check-prefix=THROWS %s %}
// THROWS-NOT: kmm:
// THROWS: caught
// THROWS-NOT: kmm:
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t returns 2>&1 | FileCheck --check-prefix=RETURNS %s %}
// RETURNS: the chunk does not store element 2000
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t histogram 2>&1 | FileCheck --check-prefix=HISTOGRAM %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t captured 2>&1 | FileCheck --check-prefix=HISTOGRAM %s %}
// HISTOGRAM: {{the|another}} chunk stores to memory that no clause names, at 0x
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
enum { N = 4096 };
static int x[N], y[N];
static std::vector<int> sizes, table;
static std::mutex mutex;
static std::once_flag once;
static std::atomic<long> sum;
static thread_local int own;
static long chunks;
struct made {
    int a, b;
    explicit made(int k) : a(0), b(0) { a = k; b = a++; }
};
namespace
{
void counts(int n, int *to, const int *from) { static unsigned calls; for (int i = 0; i < n; i++) to[i] = 2 * from[i] + 0 * ++calls % 3; }
}
static void grows(int n, int *to, const int *from) { sizes.push_back(n); for (int i = 0; i < n; i++) to[i] = 2 * from[i]; }
static std::vector<int> &bins() { static std::vector<int> b(16); return b; }
static void histogram(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { to[i] = 2 * from[i]; bins()[from[i] & 15]++; } }
static std::function<void(int)> visit;
static void captured(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { to[i] = 2 * from[i]; visit(from[i]); } }
static std::shared_ptr<const std::vector<int>> values = std::make_shared<std::vector<int>>(4);
static void proper(int n, int *to, const int *from)
{
    static made m(std::rand() & 0);
    std::call_once(once, [] { for (int k = 0; k < 10; k++) table.push_back(k); });
    for (int i = 0; i < n; i++) {
        to[i] = 2 * from[i] + table[0] + m.b;
        sum += from[i];
        own++;
    }
    std::map<int, std::string> names;
    static thread_local std::vector<int> kept;
    kept.resize(64);
    for (int i = 0; i < n; i++) {
        std::shared_ptr<const std::vector<int>> copy = values;
        names[from[i] & 3] += "a name of some length";
        kept[from[i] & 63] += copy->at(from[i] & 3);
    }
    std::lock_guard<std::mutex> lock(mutex);
    chunks += 2;
    chunks--;
}
struct node { std::atomic<node *> next{nullptr}; std::atomic<bool> waits{true}; };
static std::atomic<node *> tail;
static long under_lock;
static void with(node *q)
{
    if (node *before = tail.exchange(q)) {
        before->next = q;
        while (q->waits)
            std::this_thread::yield();
    }
    under_lock += 3;
    node *last = q;
    if (!q->next && tail.compare_exchange_strong(last, nullptr))
        return;
    while (!q->next)
        std::this_thread::yield();
    q->next.load()->waits = false;
}
static void queued(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { to[i] = 2 * from[i]; if (i & 1) { node q; with(&q); } else with(std::make_unique<node>().get()); } }
/* A shared pointer of each chunk orders nothing. */
static void counted(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { auto p = std::make_shared<std::atomic<int>>(1); to[i] = 2 * from[i]; ++*p; under_lock += 3; ++*p; } }
static void helped(int n, int *to, const int *from)
{
    for (int k = 0; k < 4; k++) {
        int *b = nullptr;
        std::thread([&] { b = new int[n]; }).join();
        for (int i = 0; i < n; i++) b[i] = from[i];
        for (int i = 0; i < n; i++) to[i] = 2 * b[i];
        std::thread([&] { delete[] b; }).join();
    }
}
static void throws(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { if (from[i] == 2000) throw 1; to[i] = from[i]; } }
static void returns(int n, int *to, const int *from) { for (int i = 0; i < n; i++) { if (from[i] == 2000) return; to[i] = from[i]; } }
static void (*volatile called)(int, int *, const int *);
static void shared(int n, int *to, const int *from) { called(n, to, from); }
int main(int c, char **v)
{
    for (int i = 0; i < N; i++) y[i] = i;
    long tally = 0;
    visit = [&tally](int k) { tally += k; };
    called = !strcmp(v[c - 1], "histogram") ? histogram : !strcmp(v[c - 1], "captured") ? captured : !strcmp(v[c - 1], "proper") ? proper : !strcmp(v[c - 1], "grows") ? grows : counts;
    called = !strcmp(v[c - 1], "throws") ? throws : !strcmp(v[c - 1], "returns") ? returns : called;
    called = !strcmp(v[c - 1], "queued") ? queued : !strcmp(v[c - 1], "helped") ? helped : !strcmp(v[c - 1], "counted") ? counted : called;
    try {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i])
    shared(N, x, y);
    } catch (int) { return puts("caught") < 0; }
    printf("done %d %ld %d\n", x[3071], chunks, sum != N * (N - 1L) / 2);
}
