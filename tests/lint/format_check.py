"""Every file of code, or of some folders, is formatted as by clang-format 14 with the .clang-format of the top folder.

usage: format_check.py [FOLDER]...
"""
import shutil
import subprocess
import sys

import source_tree


def main(folders):
    tool = shutil.which("clang-format-14")
    if tool is None:
        sys.exit("clang-format-14 is missing: sh cmake/install_dependencies.sh")
    paths = [str(source_tree.ROOT / p) for p in source_tree.files(source_tree.CODE, folders)]
    batches = [paths[i : i + 40] for i in range(0, len(paths), 40)]
    bad = [b for b in batches if subprocess.run([tool, "--dry-run", "-Werror", *b], cwd=source_tree.ROOT).returncode]
    print(f"format: {len(paths)} files, {'differences above; run clang-format-14 -i on them' if bad else 'all in form'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or source_tree.FOLDERS))
