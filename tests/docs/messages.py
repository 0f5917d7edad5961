# SPDX-License-Identifier: Apache-2.0
"""The texts of the messages that kmmcc and libkmm can print, as their sources have them: every
string with at least two words, but for strings that are known to be something else."""
import glob
import re

# What these calls get is no message but code that kmmcc writes, output that was asked for, a name
# of a trace, or what is looked for in a text.
OTHER_CALLS = set("""
    printf list_add unit_edit change_add add_kept add_end add_lines add_text add_field
    string strstr strncmp strncpy strlen sscanf fscanf memcpy assert _Static_assert KMM__TRACE
    __asm__ volatile asm counter NUMBER is put_bytes kmm__json_put_string kmm__log_info
    kmm__log_debug kmm__operation_submit kmm__array_new on_range touch sink_put dprintf _Pragma
    KMM__NATIVE_HOLD kmm__native_hold kmm__native_end kmm__native_doom source_from add_rule
    because_kept option_add""".split())


# All that these files print was asked for: --help, --explain, --diff, statistics, a trace, a graph.
OTHER_FILES = re.compile(r"""
    include/kmm/error\.h |
    kmmcc/(driver/(help|option_table|cmake)|base/(warning|sarif)|emit/(explain\w*|explained|
        graph|diff|prove_text|jump|describe|mark)|cpu/(loops/\w+_text|program/names)|ptx/\w+|
        analyze/library|gpu/(change|register))\.c |
    runtime/(managed/error|observe/(stats\w*|chrome|dot_write|progress|trace_tasks|trace_tracks|json|watch)|
        base/(bar|units|log|environment)|launch/(thrown_text|submission|own_kernels)|
        nodes/start|memory/host/costs|
        execute/exact_line)\.[ch] |
    runtime/backend/[a-z]+/kernels/.*""", re.X)
# What says a message also in these files.
SAYS = re.compile(r"diag_|unit_error|parser_error|kmm__error_set|kmm__log$|warn|refuse")
CODE = re.compile(r"\bkmm__\w|%kmm|kmm_host_|@kmm_|__attribute__|_cast<|kmm_(launch|directive)_\w+\(|sizeof\(|^#|…#"
                  r"|^\s*(//|; kmm|/\*)|\{\s*$|;$|^&&|\($|^\w+ \*$|^[\w:]+<[^>]*>$|^\([\w ]+\)(::)?…?$"
                  r"|amdgpu|alwaysinline|^, (!|KMM)|^-D|KMM_HOST_\w+(\(|$)|KMM_TRY|KMM_ON_|^\"<"
                  r"|^long long$|^each axis has a factor$|^reuse submission$")
# Parts that stand for a thing in other messages, whose entry is that of the message.
PARTS = """store to|blocks of …|chunks of …|the thread of|a plain function|work on the device|
    a warp operation|host (… threads)|(and … more)|a pointer argument …|chunk … of …|an access to|
    the array of …|host node …|…: chunks … to … of …|…: chunk … of …|CPU (kmm)……|say `update(…)`|
    …: the chunk … ……, …; …|it has `nowait`|
    widen `reduce(... …)`…|end the `data` region before""".replace("\n    ", "").split("|")
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
            while k < len(tokens) and (tokens[k][0][0] == '"' or re.match(r"PRI\w+$", tokens[k][0])):
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
            for line, call, text in strings(re.sub(r"^[ \t]*#[ \t]*include.*", "", source, flags=re.M)):
                text = re.sub(r"^kmm: (error|warning|note): ?", "", plain(text))
                words = re.findall(r"[A-Za-z]{2,}", text)
                if len(words) < 2 or " " not in text or call in OTHER_CALLS or text in PARTS:
                    continue
                if CODE.search(text) or is_other and not SAYS.match(call or ""):
                    continue
                yield f"{name}:{line}", text
