"""The share of a long list that one run takes: part P of N with RICCI_TEST_SHARE=P/N in the environment, else all of it.

CTest gives each commit another part; tests/long.sh takes all. A part is every Nth entry, so that it has some of each kind.
"""
import os


def share(entries):
    part, parts = map(int, os.environ.get("RICCI_TEST_SHARE", "0/1").split("/"))
    return list(entries)[part % parts::parts]
