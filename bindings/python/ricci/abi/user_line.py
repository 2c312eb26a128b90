"""The user's line: the innermost frame of the call stack that is not of this package."""
import os
import sys

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # the folder of the package


def user_location():
    """(file, line, function); ("", 0, "") if there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return ("", 0, "") if frame is None else (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
