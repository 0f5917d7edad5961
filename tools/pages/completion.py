# SPDX-License-Identifier: Apache-2.0
"""Writes completion for bash, zsh and fish, from the options of help texts."""
import re

HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Made from what {name} --help prints.\n"

BASH = """
_{id}()
{{
    # Readline takes "=" and ":" for ends of words, and replaces what stands behind the last one.
    local line=${{COMP_LINE:0:COMP_POINT}}
    local word=${{line##*[[:space:]]}} before each
    before=${{word%"${{word##*[=:]}}"}}
    COMPREPLY=()
    case ${{COMP_WORDS[COMP_CWORD-1]}} in
{cases}
    esac
    [[ $word == -* ]] || return 0
    for each in $(compgen -W "{words}" -- "$word"); do
        COMPREPLY+=("${{each#"$before"}}")
    done
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[=:] ]]; then
        compopt -o nospace
    fi
}}
complete -o default -F _{id} {name}
"""

DASHED = "-n 'string match -q -- \"-*\" (commandline -ct)'"


def _summary(option):
    """The beginning of what the option does, short enough for a menu."""
    words = re.split(r"[.;](?: |$)| \(", option.text)[0]
    return words if len(words) <= 72 else words[:69].rsplit(" ", 1)[0] + " ..."


def _words(options):
    """Each option as it can be typed in one word."""
    for option in options:
        if not option.joined or not option.values:
            yield option.name + option.first
        for value in option.values or [] if option.joined else []:
            yield option.name + value


def bash(name, options):
    cases = "".join(
        f"        {option.name})\n            COMPREPLY=($(compgen -W "
        f"\"{' '.join(option.values)}\" -- \"$word\"))\n            return 0 ;;\n"
        for option in options if option.values and not option.joined)
    body = BASH.format(id=name.replace("-", "_"), name=name, words=" ".join(_words(options)),
                       cases=cases.rstrip("\n") or "        -) ;;")
    return HEAD.format(name=name) + body


def zsh(name, options):
    lines = []
    for option in options:
        said = re.sub(r"([\[\]:\\])", r"\\\1", _summary(option)).replace("'", "'\\''")
        value = ""
        if option.values is not None:
            words = f"({' '.join(option.values)})" if option.values else "_files"
            value = f":value:{words}"
        typed = option.name + ("-" if option.joined else "")
        lines.append(f"'{typed}[{said}]{value}'")
    specs = " \\\n    ".join(lines + ["'*:file:_files'"])
    return f"#compdef {name}\n" + HEAD.format(name=name) + f"_arguments \\\n    {specs}\n"


def fish(name, options):
    lines = []
    for option in options:
        bare = option.name.rstrip("=")
        long = bare.startswith("--")
        kind = "-l" if long else "-s" if len(bare) == 2 else "-o"
        said = _summary(option).replace("\\", "\\\\").replace("'", "\\'")
        line = f"complete -c {name} {kind} '{bare.lstrip('-')}'"
        if option.values and (long or not option.joined):
            line += f" -x -a '{' '.join(option.values)}'"
        elif option.values is not None and long:
            line += " -r"
        elif option.values is not None:  # fish knows no values behind "=" of options with one dash
            line = f"complete -c {name} -a '{' '.join(_words([option]))}' {DASHED}"
        lines.append(f"{line} -d '{said}'")
    return HEAD.format(name=name) + "\n".join(lines) + "\n"
