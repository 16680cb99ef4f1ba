"""The command privrec: the program itself, in place of this process where the system can."""

import os
import subprocess
import sys

from privrec import binary


def main():
    command = [binary(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    with subprocess.Popen(command) as p:
        while True:
            try:
                sys.exit(p.wait())
            except KeyboardInterrupt:  # the program has it too, saves and ends
                pass


if __name__ == "__main__":
    main()
