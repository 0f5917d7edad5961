import os, sys, tempfile
sys.path.insert(0, sys.argv[1])
from kmm import _cache as kmm_cache
base = sys.argv[2]
os.environ["KMM_CACHE_DIR"] = base + "/a/b"
f = kmm_cache.folder(); assert f == base + "/a/b", f
def make(text=b"text"):
    new = os.path.join(f, "new"); open(new, "wb").write(text); return kmm_cache.keep(new, f, "key", ".so")
p = make(); assert kmm_cache.find(f, "key", ".so") == p
open(p, "ab").write(b"x"); assert kmm_cache.find(f, "key", ".so") is None and not os.path.exists(p)
p = make(); os.chmod(p, 0o777); assert kmm_cache.find(f, "key", ".so") is None and not os.path.exists(p)
os.symlink("/bin/sh", f + "/key-00.so"); assert kmm_cache.find(f, "key", ".so") is None
os.chmod(f, 0o777); assert kmm_cache.folder() is None
for value in ("none", "relative/folder"): os.environ["KMM_CACHE_DIR"] = value; assert kmm_cache.folder() is None
os.environ["KMM_CACHE_DIR"] = ""; os.environ["XDG_CACHE_HOME"] = base + "/x"; assert kmm_cache.folder() == base + "/x/kmm"
