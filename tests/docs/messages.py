# SPDX-License-Identifier: Apache-2.0
"""The texts of the messages that kmmcc and libkmm can print, as their sources have them: every
string with at least two words, but for strings that are known to be something else."""
import glob
import re

# What these calls get is no message but output that was asked for, a name of a trace, code, or what
# is looked for in a text.
OTHER_CALLS = set("""
    printf dprintf list_add strstr strncmp strlen memcpy assert _Static_assert volatile __asm__
    _Pragma
    KMM__TRACE KMM__NATIVE_HOLD kmm__native_hold kmm__native_end kmm__native_doom kmm__log_info
    kmm__log_debug kmm__operation_submit kmm__array_new on_range sink_put source_from""".split())
# What these files print was asked for (--help, --explain, --diff, statistics, a trace, a graph), is
# code, names, or texts of CUDA; but for what says a message, below.
OTHER_FILES = re.compile("|".join("""
    include/kmm/error.h
    kmmcc/driver/(help|option_table|cmake).c
    kmmcc/base/(warning|sarif).c
    kmmcc/emit/(explain|explained|graph|diff|jump|describe|mark)\\w*.c
    kmmcc/ptx/\\w+.c
    kmmcc/analyze/library.c
    kmmcc/gpu/(change|register).c
    runtime/managed/error.c
    runtime/observe/(stats|chrome|dot_write|progress|trace_tasks|trace_tracks|json|watch)\\w*.[ch]
    runtime/base/(bar|units|log|environment).[ch]
    runtime/launch/(thrown_text|submission|own_kernels).[ch]
    runtime/nodes/start.[ch]
    runtime/memory/host/costs.[ch]
    runtime/execute/exact_line.[ch]""".replace(".", "[.]").replace("[[.]ch]", "[ch]").split()))
# What says a message also in these files.
SAYS = re.compile(r"diag_|unit_error|parser_error|kmm__error_set|kmm__log$|warn|refuse")
# Code that kmmcc writes, types and the like.
CODE = re.compile(
    r"\bkmm__\w|%kmm|kmm_host_|@kmm_|__attribute__|_cast<|kmm_(launch|directive)_\w+\(|sizeof\(|^#"
    r"|…#|^\s*(//|; kmm|/\*)|\{\s*$|;$|^&&|\($|^…?\w+ \*$|^[\w:]+<[^>]*>$|^\([\w ]+\)(::)?…?$|amdgpu"
    r"|alwaysinline|^, (!|KMM)|^-D|KMM_HOST_\w+(\(|$)|KMM_TRY|KMM_ON_|^\"<|^long long$"
    r"|^each axis has a factor$|^reuse submission$")
# Things that are put into other messages, whose entries are those of the messages.
PARTS = """(and … more)|CPU (kmm)……|HIP runtime|NVIDIA driver|a call of|a plain function|
    a pointer argument …|a read of|a warp operation|a write to|an access|an access to|an array|
    an assignment|begin of an event|blocks of …|chunk … of …|chunks of …|data map of|end of a map|
    end the `data` region before|guard variable|host (… threads)|host node …|is mapped|
    it has `nowait`|kind of map|of an item|say `update(…)`|signal mask|store to|stores to|
    the array|the array of …|the array …|the compiler|the launch|the standard output|
    the thread of|update from|update to|widen `reduce(... …)`…|work on the device|…: chunk … of …|
    …: chunks … to … of …|…: the chunk … ……, …; …"""
PARTS = PARTS.replace("\n    ", "").split("|")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|'
                   r"[A-Za-z_]\w*|\d[\w.]*|\S", re.S)
# What printf replaces.
PLACE = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|h|ll|l|z|j|t|L)?[a-zA-Z]")


def strings(text):
    """(line, called function or None, text) of each string; neighbours are one."""
    tokens = [(match.group(), match.start()) for match in TOKEN.finditer(text)]
    tokens = [each for each in tokens if not each[0].startswith(("//", "/*"))]
    calls, k = [], 0
    while k < len(tokens):
        token, at = tokens[k]
        if token in ("(", "[", "{"):
            named = k > 0 and token == "(" and re.match(r"[A-Za-z_]", tokens[k - 1][0])
            level = tokens[k + 1][0] in ("KMM__LOG_INFO", "KMM__LOG_DEBUG")
            calls.append("kmm__log_info" if level else tokens[k - 1][0] if named else None)
        elif token in (")", "]", "}"):
            if calls:
                calls.pop()
        elif token[0] == '"' or token.startswith('R"'):
            found = ""
            while k < len(tokens) and re.match(r'"|PRI\w+$', tokens[k][0]):
                found += tokens[k][0][1:-1] if tokens[k][0][0] == '"' else "d"
                k += 1
            line = text.count("\n", 0, at) + 1
            yield line, next((call for call in reversed(calls) if call), None), found
            k = max(k, 1)
            if found or token[0] == '"':
                continue
        k += 1


def plain(text):
    """A text as it is printed, with … for what differs."""
    text = PLACE.sub("…", text.replace("%%", "\0")).replace("\0", "%")
    text = text.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\")
    return " ".join(text.split())


def messages(root):
    """(place in the source, text) of each message."""
    for part in ("kmmcc", "runtime", "include"):
        for path in sorted(glob.glob(f"{root}/{part}/**/*", recursive=True)):
            name = path[len(root) + 1:]
            if not re.search(r"\.(c|h|cpp|hpp)$", name):
                continue
            is_other = OTHER_FILES.fullmatch(name)
            with open(path, encoding="utf-8") as file:
                source = file.read()
            source = re.sub(r"^[ \t]*#[ \t]*include.*", "", source, flags=re.M)
            for line, call, text in strings(source):
                text = re.sub(r"^kmm: (error|warning|note): ?", "", plain(text))
                words = re.findall(r"[A-Za-z]{2,}", text)
                if len(words) < 2 or " " not in text or call in OTHER_CALLS or text in PARTS:
                    continue
                if CODE.search(text) or is_other and not SAYS.match(call or ""):
                    continue
                yield f"{name}:{line}", text
