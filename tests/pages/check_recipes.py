# SPDX-License-Identifier: Apache-2.0
"""Usage: check_recipes.py <source folder>

The recipes in packaging/ are well-formed, and what they name is there: CMake's options and presets,
releases of LLVM, the version of kmm, files, programs, and stages of Dockerfiles.
"""
import ast
import json
import os
import re
import subprocess
import sys

root = sys.argv[1]
failures = []


def read(name):
    with open(f"{root}/{name}", encoding="utf-8") as file:
        return file.read()


def expect(is_right, text):
    if not is_right:
        failures.append(text)


def is_option(name):
    """True if a CMakeLists.txt of the source asks for the variable."""
    use = re.compile(rf"(option|set|find_program)\({name} |\${{{name}}}|if\((NOT )?{name}\)")
    return any(use.search(read(file)) for file in cmake_files)


def check_script(where, text):
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    expect(done.returncode == 0, f"{where}: {done.stderr}")
    for name in re.findall(r"-D(KMM_\w+)=", text):
        expect(is_option(name), f"{where}: CMake has no option {name}")
    for name in re.findall(r"--preset (\w+)", text):
        expect(name in presets, f"{where}: there is no preset {name}")
    for name in re.findall(r"\. (scripts/\w+)", text):
        expect(os.path.exists(f"{root}/{name}"), f"{where}: there is no {name}")
    for name in re.findall(r"&& (kmm_\w+)'", text):
        expect(f"{name}()" in read("scripts/setup"), f"{where}: scripts/setup has no {name}")


def check_spack(name):
    tree = ast.parse(read(name))
    (package,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    calls = [(getattr(node.func, "id", getattr(node.func, "attr", "")), node.args)
             for node in ast.walk(package) if isinstance(node, ast.Call)]
    folder = os.path.basename(os.path.dirname(name))
    expect(package.name == folder.capitalize(), f"{name}: class {package.name}")
    defined = [args[0].value for call, args in calls if call == "define"]
    needed = [args[0].value for call, args in calls if call == "depends_on"]
    expect(len(defined) > 2, f"{name}: no options of CMake")
    for option in defined:
        expect(is_option(option), f"{name}: CMake has no option {option}")
    expect(f"llvm@{llvm[0]}:{llvm[-1]}+clang" in needed, f"{name}: LLVM of {needed}")
    expect(f"cmake@{cmake}:" in needed, f"{name}: CMake of {needed}")
    above = re.search(r'__file__\), "([./]+)"', read(name))[1]
    there = os.path.normpath(os.path.join(root, os.path.dirname(name), above))
    expect(os.path.realpath(there) == os.path.realpath(root), f"{name}: the source is in {there}")


def check_conda(folder):
    text = read(f"{folder}/meta.yaml")
    try:
        import yaml
        yaml.safe_load(re.sub(r"{{.*?}}", "compiler", text))
    except ImportError:
        pass
    except yaml.YAMLError as error:
        failures.append(f"{folder}: {error}")
    expect(f'version: "{version}"' in text, f"{folder}: the version is not {version}")
    bounds = set(re.findall(r"(?:clang|llvm)\w* (>=.*)", text))
    expect(bounds == {f">={llvm[0]},<{llvm[-1] + 1}"}, f"{folder}: LLVM of {bounds}")
    path = re.search(r"path: (\S+)", text)[1]
    source = os.path.join(root, folder, path)
    expect(os.path.exists(f"{source}/include/kmm.h"), f"{folder}: no source at {path}")
    licence = re.search(r"license_file: (\S+)", text)[1]
    expect(os.path.exists(f"{source}/{licence}"), f"{folder}: no {licence}")
    for program in re.findall(r"^    - (kmm\S+)", text, re.M):
        made = "".join(map(read, ("tools/CMakeLists.txt", "kmmcc/CMakeLists.txt")))
        expect(f"install(TARGETS {program} " in made, f"{folder}: no program {program}")
    check_script(f"{folder}/build.sh", read(f"{folder}/build.sh"))


def check_docker(name):
    stages, known = [], {"ARG", "FROM", "COPY", "WORKDIR", "RUN", "ENV"}
    text = re.sub(r"^#.*\n", "", read(name), flags=re.M)
    for line in re.sub(r"\\\n *", "", text).split("\n"):
        word, _, rest = line.partition(" ")
        expect(not word or word in known, f"{name}: {word}")
        if word == "FROM" and " AS " in rest:
            stages.append(rest.split(" AS ")[1])
        if word == "COPY" and rest.startswith("--from="):
            expect(rest[7:].split()[0] in stages, f"{name}: no stage {rest}")
        if word == "RUN":
            check_script(name, rest)
    expect(stages, f"{name}: no stages")


cmake_files = ["CMakeLists.txt", "runtime/CMakeLists.txt", "runtime/transport/CMakeLists.txt",
               "kmmcc/CMakeLists.txt", "cmake/FindLibClang.cmake"]
presets = {each["name"] for each in json.loads(read("CMakePresets.json"))["configurePresets"]}
llvm = sorted(map(int, re.search(r'kmm_llvm_releases="([0-9 ]+)"', read("scripts/setup"))[1].split()))
cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", read("CMakeLists.txt"))[1]
version = ".".join(re.findall(r"^#define KMM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                              read("include/kmm.h"), re.M))
check_spack("packaging/spack/packages/kmm/package.py")
check_conda("packaging/conda")
check_docker("packaging/docker/Dockerfile")
check_docker("packaging/docker/Dockerfile.cuda")
expect("\nbuild\n" in read(".dockerignore"), ".dockerignore: a build folder goes into images")
print("\n".join(failures))
sys.exit(1 if failures else 0)
