# SPDX-License-Identifier: Apache-2.0
"""explained.py json|svg: checks the form of what `kmmcc --explain=json` or svg prints, on the standard input, and prints it in short.

json: each object has exactly the members of docs/explain.md, of the types that stand there.
svg: one document that refers to no other; all of it lies in the picture. Rectangles are printed as CLASS LEFT..RIGHT TOP..BOTTOM.
"""
import json
import sys
import xml.etree.ElementTree as xml

TEXT, MAYBE, FLAG, NUMBER = str, (str, type(None)), bool, int
AXIS = {"name": TEXT, "source": TEXT, "lower": MAYBE, "end": MAYBE, "splits": FLAG}
CHUNK = {"axis": TEXT, "size": TEXT, "unit": TEXT, "rounded_to_blocks": FLAG}
SECTION = {"lower": MAYBE, "length": MAYBE, "first": MAYBE, "last": MAYBE}
ITEM = {"clause": TEXT, "operator": MAYBE, "text": TEXT, "base": TEXT, "inferred": FLAG, "sections": [SECTION], "elements": TEXT,
        "bytes": MAYBE, "element_bytes": (int, type(None)), "copies_in": TEXT, "copies_out": MAYBE}
CONDITION = {"value": TEXT, "fits": TEXT, "all_threads": FLAG}
POINTER = {"text": TEXT, "knowledge": TEXT, "reason": MAYBE, "remark": TEXT}
END = {"line": NUMBER, "loop_line": NUMBER, "each_step": FLAG, "what": TEXT}
ANALYSIS = {"unknown": MAYBE, "pointers": [POINTER], "instances": [TEXT], "instances_differ": MAYBE}
LAUNCH = {"kind": TEXT, "callee": MAYBE, "file": TEXT, "line": NUMBER, "column": NUMBER, "compiled_file": TEXT, "function": MAYBE,
          "inferred": FLAG, "declared": FLAG, "nowait": FLAG, "axes": [AXIS], "chunks": [CHUNK], "one_chunk": MAYBE,
          "one_chunk_unless": MAYBE, "items": [ITEM], "conditions": [CONDITION], "analysis": ANALYSIS,
          "lookahead_ends": [END], "results": TEXT}
WITHOUT = {"file": TEXT, "line": NUMBER, "callee": TEXT, "pragma": MAYBE, "reason": MAYBE}
DOCUMENT = {"version": NUMBER, "kmmcc": TEXT, "launches": [LAUNCH], "without_pragma": [WITHOUT], "not_compared": MAYBE}


def check(value, form, where):
    if isinstance(form, dict):
        assert set(value) == set(form), f"{where}: {set(value) ^ set(form)}"
        for name in form:
            check(value[name], form[name], f"{where}.{name}")
    elif isinstance(form, list):
        for k, element in enumerate(value):
            check(element, form[0], f"{where}[{k}]")
    else:
        assert isinstance(value, form) and isinstance(value, bool) == (form is bool), f"{where}: {value!r}"


def of_json():
    document = json.loads(sys.stdin.read())
    check(document, DOCUMENT, "document")
    assert document["version"] == 1
    for launch in document["launches"]:
        print(f"{launch['file']}:{launch['line']}:{launch['column']}: {launch['kind']} {launch['callee']} in {launch['function']}"
              + "".join(f" {flag}" for flag in ("inferred", "declared", "nowait") if launch[flag]))
        for axis in launch["axes"]:
            print(f"  axis {axis['name']} {axis['source']} {axis['lower']} {axis['end']}")
        for chunk in launch["chunks"]:
            print(f"  chunk {chunk['size']} {chunk['unit']} of {chunk['axis']}" + " rounded" * chunk["rounded_to_blocks"])
        for item in launch["items"]:
            sections = "".join(f"[{s['lower']}:{s['length']} = {s['first']}..{s['last']}]" for s in item["sections"])
            print(f"  {item['clause']} {item['operator'] or ''} {item['base']}{sections}" + " inferred" * item["inferred"])
            print(f"    {item['elements']}; {item['bytes']}; {item['element_bytes']}")
        for condition in launch["conditions"]:
            print(f"  if {condition['value']} fits {condition['fits']}" + " for all threads" * condition["all_threads"])
        for pointer in launch["analysis"]["pointers"]:
            print(f"  {pointer['text']} is {pointer['knowledge']}: {pointer['reason']}")
        for end in launch["lookahead_ends"]:
            print(f"  {'each step' if end['each_step'] else 'some steps'} of {end['loop_line']} until {end['line']}: {end['what']}")
    for launch in document["without_pragma"]:
        print(f"{launch['file']}:{launch['line']}: {launch['callee']}: {launch['pragma']}: {launch['reason']}")


def of_svg():
    text = sys.stdin.buffer.read().decode()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "") and "<script" not in text
    root = xml.fromstring(text)
    width, height = int(root.get("width")), int(root.get("height"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    for node in root.iter():
        tag = node.tag.split("}")[1]
        if tag == "text":
            anchor = {"middle": 0.5, "end": 1}.get(node.get("text-anchor"), 0)
            wide = {"title": 8, "name": 7.2}.get(node.get("class"), 6.7 if node.get("class") in ("code", "bound") else 5.8) * len(node.text)
            left = int(node.get("x")) - anchor * wide
            assert 0 <= left and left + wide <= width and 0 < int(node.get("y")) <= height, node.text
            print(node.get("class"), node.text)
        if tag == "rect":
            x, y, w, h = (int(node.get(name)) for name in ("x", "y", "width", "height"))
            assert 0 <= x and 0 <= y and w > 0 and h > 0 and x + w <= width and y + h <= height
            if node.get("class") not in ("hatch", "frame", "own"):
                print(f"{node.get('class')} {x}..{x + w} {y}..{y + h}")


{"json": of_json, "svg": of_svg}[sys.argv[1]]()
