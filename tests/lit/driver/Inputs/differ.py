# Compares pairs of C files by `kmmcc --check` and has patch(1) apply what it prints.
import random
import subprocess
import sys

kmmcc, folder = sys.argv[1:]
random.seed(5)
pairs = [("", ""), ("", "int a;\n"), ("int a;\n", ""), ("int a;", "int a;\n"), ("int a;\n", "int a;"), ("int a;\n", "int b;\n")]
while len(pairs) < 40:
    before = [f"int v{random.randrange(9)};\n" for _ in range(random.randrange(60))]
    after = [line for line in before if random.random() > 0.1]
    for _ in range(random.randrange(5)):
        after.insert(random.randrange(len(after) + 1), f"int n{random.randrange(9)};\n")
    pairs.append(("".join(before), "".join(after)))
for before, after in pairs:
    with open(f"{folder}/before.c", "w") as f:
        f.write(before)
    with open(f"{folder}/after.c", "w") as f:
        f.write(after)
    run = subprocess.run([kmmcc, f"--check={folder}/before.c", f"{folder}/after.c"], capture_output=True, text=True)
    assert (run.returncode == 0) == (before == after), (before, after, run)
    if before != after:
        subprocess.run(["patch", "-s", f"{folder}/before.c"], input=run.stdout, text=True, check=True)
        try:
            with open(f"{folder}/before.c") as f:
                patched = f.read()
        except FileNotFoundError:
            patched = ""  # patch removes what becomes empty
        assert patched == after, (before, after, run.stdout)
print(len(pairs), "pairs of files agree")
