"""Prints a source that defines each word of kmm's headers as a macro that breaks them, and includes one header."""
import os
import re
import sys

KEEPS = """auto break case char const continue default do double else enum extern float for goto if inline int long register
return short signed sizeof static struct switch typedef union unsigned void volatile while class public private protected
explicit delete operator this try catch throw new template typename true false nullptr noexcept constexpr bool using
namespace static_cast static_assert define ifdef ifndef endif elif undef include pragma defined std blockDim blockIdx gridDim threadIdx
dim3 uint3 make_uint3 x y z X EXIT_FAILURE INT64_MIN stderr fflush fprintf _Exit size_t int64_t uint32_t uint64_t
current_exception exception exception_ptr rethrow_exception uncaught_exception uncaught_exceptions""".split()
folder = sys.argv[1]
words = set()
for header in ("launch.h", "error.h", "except.h", "cuda.h", "hip.h", "clone.h"):
    text = open(os.path.join(folder, header)).read()
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\])*\"|#\s*include[^\n]*", "", text, flags=re.S)
    words |= set(re.findall(r"[A-Za-z]\w*", text))
if len(sys.argv) > 3:  # CUDA's own headers use some of the names, so that they come before the macros
    print("#include <%s>" % sys.argv[3])
for word in sorted(words):
    if word not in KEEPS and not word.lower().startswith("kmm") and not word.isupper():
        print("#define %s @%s" % (word, word))
print('#include <%s>\nextern "C" int answer;' % sys.argv[2] if sys.argv[2] != "kmm/launch.h" else "#include <kmm/launch.h>")
