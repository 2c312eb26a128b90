"""A name means one thing: no two classes in headers of src/ and plugins/ have one name, and no identifier is made of a
word that was given up.

`Options` of two folders are found by no search, and a sentence about one is read as about the other. Not counted:
bindings/cpp, whose Context, Program or Array are the host's faces of the core's; tests. SHARED are the names that two
classes have today: none may be added, and each leaves the list with the second class.

GIVEN_UP are words that had several meanings, each with what says it now. Identifiers, and words in backticks in
comments, have none of them; English in comments and messages may.
"""
import collections
import re
import sys

import sizes
import source_tree

SHARED = {"Arguments", "Array", "FloatBits", "Part", "Regions", "ScanParts", "Settings", "Signature", "Value", "Variable",
          "Work"}

_PLACE = ("a map of elements is a ViewMap, in the host's source a location, in memory an offset, address or slot, "
          "in an array or list a position, where a loop runs run_in")
GIVEN_UP = dict.fromkeys(("place", "places", "placed", "placer", "placement"), _PLACE)
GIVEN_UP |= dict.fromkeys(("packet", "packets"), "what a thread reads or writes at once is a vector access")
# numpy's function.
ALLOWED = {("bindings/cpp/host/numpy/choices.cc", "place"), ("bindings/cpp/ricci/sets.hpp", "place")}
FOLDERS = ("bindings", "include", "plugins", "src")
# Strings and comments, by the kind of file.
_STRINGS = r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])'"
C_TEXT = re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/|" + _STRINGS)
SCRIPT_TEXT = re.compile(r'"""(?:.|\n)*?"""|#[^\n]*|' + _STRINGS)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def identifiers(text, no_code):
    """(line, name) of the identifiers in code, and of those in backticks in comments."""
    for m in no_code.finditer(text):
        if m[0][0] in "/#":
            yield from ((text.count("\n", 0, m.start()) + 1, name) for quoted in re.findall(r"`([^`\n]+)`", m[0])
                        for name in re.findall(r"\w+", quoted))
    code = no_code.sub(lambda m: "\n" * m[0].count("\n") + " ", text)
    for number, line in enumerate(code.split("\n"), 1):
        yield from ((number, name) for name in re.findall(r"[A-Za-z_]\w*", line))


def given_up(name):
    """The word of `name` that was given up, or None. `in_place` and `InPlace` are English."""
    words = [w.lower() for w in WORD.findall(name)]
    return next((w for i, w in enumerate(words) if w in GIVEN_UP and (i == 0 or words[i - 1] != "in")), None)


def words_that_came_back():
    for path in source_tree.files({".h", ".hpp", ".c", ".cc", ".rs", ".py", ".jl"}, FOLDERS):
        no_code = SCRIPT_TEXT if path.suffix in (".py", ".jl") else C_TEXT
        for line, name in identifiers(source_tree.read(path), no_code):
            if (word := given_up(name)) and (str(path), name) not in ALLOWED:
                yield f"{path}:{line}: `{name}`: the word `{word}` was given up: {GIVEN_UP[word]}"


def planted():
    """Words that must be found, and those that must not."""
    text = ('int PlaceOf(); // what `place_` says, no place\nconst char* places = "place";'
            " bool in_place, replaced, InPlace; /* `kMaxPlaces` */")
    found = [(line, name) for line, name in identifiers(text, C_TEXT) if given_up(name)]
    wanted = [(1, "place_"), (2, "kMaxPlaces"), (1, "PlaceOf"), (2, "places")]
    return [] if found == wanted else [f"the words of this lint: {found} are found, not {wanted}"]


def class_names():
    found_at = collections.defaultdict(list)
    for path in source_tree.files({".h", ".hpp"}, ("src", "plugins")):
        for _, line, name in sizes.classes(source_tree.read(path).splitlines()):
            found_at[name].append(f"{path}:{line}")
    twice = {name for name, found in found_at.items() if len(found) > 1}
    yield from (f"{name} is the name of {len(found_at[name])} classes: {' '.join(found_at[name])}"
                for name in sorted(twice - SHARED))
    yield from (f"{name} is the name of one class: take it off SHARED" for name in sorted(SHARED - twice))


def main():
    return source_tree.report([*class_names(), *planted(), *words_that_came_back()], "vocabulary")


if __name__ == "__main__":
    sys.exit(main())
