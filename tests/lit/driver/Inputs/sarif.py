# SPDX-License-Identifier: Apache-2.0
"""sarif.py FILE FOLDER: prints the results of a SARIF file in one line each, and fails if a property that SARIF 2.1.0 requires
is missing or wrong. Regions and fixes are applied to the files that they are about, which are relative to FOLDER: so places are right.
"""
import json
import os
import sys
import urllib.parse

path, folder = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    log = json.load(file)


def keys(where, known, required=()):
    assert set(where) <= set(known), f"unknown properties {set(where) - set(known)}"
    assert set(required) <= set(where), f"{set(required) - set(where)} is missing in {where}"


def text_of(message):
    keys(message, ["text"], ["text"])
    assert message["text"], "an empty message"
    return message["text"].replace("{{", "{").replace("}}", "}")


def file_of(location):
    keys(location, ["uri", "uriBaseId"], ["uri"])
    uri = urllib.parse.urlsplit(location["uri"])
    assert uri.geturl().isascii() and " " not in location["uri"]
    assert (uri.scheme == "file") != (location.get("uriBaseId") in bases), location
    return os.path.join(folder, urllib.parse.unquote(uri.path, errors="surrogateescape"))


def words(name, region):
    """What the region has, with columns that count characters."""
    keys(region, ["startLine", "startColumn", "endLine", "endColumn"], ["startLine"])
    with open(name, encoding="utf-8-sig", errors="replace", newline="\n") as file:
        lines = file.read().split("\n")
    assert 1 <= region["startLine"] <= len(lines)
    if "startColumn" not in region:
        return lines[region["startLine"] - 1]
    first, last = region["startLine"] - 1, region["endLine"] - 1
    begin, end = region["startColumn"] - 1, region["endColumn"] - 1
    assert (first, begin) <= (last, end) and begin <= len(lines[first]) and end <= len(lines[last])
    return lines[first][begin:end] if first == last else lines[first][begin:] + "\n...\n" + lines[last][:end]


def place(location):
    if "physicalLocation" not in location:
        return "nowhere"
    keys(location["physicalLocation"], ["artifactLocation", "region"], ["artifactLocation", "region"])
    physical = location["physicalLocation"]
    name, region = file_of(physical["artifactLocation"]), physical["region"]
    shown = physical["artifactLocation"]["uri"] if "uriBaseId" in physical["artifactLocation"] else os.path.basename(name)
    return f"{shown}:{region['startLine']}:{region.get('startColumn', '-')}: `{words(name, region)}`"


keys(log, ["$schema", "version", "runs"], ["version", "runs"])
assert log["version"] == "2.1.0" and len(log["runs"]) == 1
run = log["runs"][0]
keys(run, ["tool", "columnKind", "originalUriBaseIds", "invocations", "results"], ["tool", "results"])
assert run["columnKind"] == "unicodeCodePoints"
bases = run["originalUriBaseIds"]
for base in bases.values():
    assert base["uri"].startswith("file:///") and base["uri"].endswith("/")
keys(run["tool"], ["driver"], ["driver"])
driver = run["tool"]["driver"]
keys(driver, ["name", "version", "rules"], ["name"])
rules = [rule["id"] for rule in driver["rules"]]
assert len(set(rules)) == len(rules)
for rule in driver["rules"]:
    text_of(rule["shortDescription"])
    assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
(invocation,) = run["invocations"]
print("successful" if invocation["executionSuccessful"] is True else "not successful")
for result in run["results"]:
    keys(result, ["ruleId", "level", "message", "locations", "relatedLocations", "fixes"], ["message"])
    assert result["ruleId"] in rules and result["level"] in ("note", "warning", "error")
    for location in result["locations"] or [{}]:
        print(f"{place(location)} {result['level']} {result['ruleId']}: {text_of(result['message'])}")
    for location in result["relatedLocations"]:
        print(f"  note {place(location)} {text_of(location['message'])}")
    for fix in result["fixes"]:
        keys(fix, ["description", "artifactChanges"], ["artifactChanges"])
        (change,) = fix["artifactChanges"]
        name = file_of(change["artifactLocation"])
        for new in change["replacements"]:
            old = words(name, new["deletedRegion"])
            print(f"  fix `{old}` -> `{new['insertedContent']['text']}`")
