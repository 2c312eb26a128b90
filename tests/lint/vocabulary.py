"""A name means one thing: no two classes in headers of src/ and plugins/ have one name.

`Options` of two folders are found by no search, and a sentence about one is read as about the other. Not counted:
bindings/cpp, whose Context, Program or Array are the host's faces of the core's; tests. SHARED are the names that two
classes have today: none may be added, and each leaves the list with the second class.
"""
import collections
import sys

import sizes
import source_tree

SHARED = {"Arguments", "Array", "FloatBits", "Part", "Regions", "ScanParts", "Settings", "Signature", "Value", "Variable",
          "Work"}


def main():
    places = collections.defaultdict(list)
    for path in source_tree.files({".h", ".hpp"}, ("src", "plugins")):
        for _, line, name in sizes.classes(source_tree.read(path).splitlines()):
            places[name].append(f"{path}:{line}")
    twice = {name for name, found in places.items() if len(found) > 1}
    errors = [f"{name} is the name of {len(places[name])} classes: {' '.join(places[name])}" for name in sorted(twice - SHARED)]
    errors += [f"{name} is the name of one class: take it off SHARED" for name in sorted(SHARED - twice)]
    return source_tree.report(errors, "vocabulary")


if __name__ == "__main__":
    sys.exit(main())
