"""Runs a command and prints the processor time it took, in milliseconds. The command can also run in a terminal until that shows a text.

    processor-time.py INPUT MARK COMMAND…    with a MARK: in a terminal, killed at once when it is shown
"""
import os
import pty
import re
import signal
import sys
import threading

COLUMNS, ROWS = "100", "30"
given, mark, command = sys.argv[1], sys.argv[2], sys.argv[3:]


def run_to_end():
    """What it prints is read and dropped. A failure ends this program with what the command said."""
    read, write = os.pipe()
    said, says = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_DUP2, says, 1), (os.POSIX_SPAWN_DUP2, says, 2)]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    os.close(read)
    os.close(says)
    threading.Thread(target=lambda: (os.write(write, given.encode()), os.close(write))).start()
    output = b""
    while piece := os.read(said, 65536):
        output += piece
    status, usage = os.wait4(child, 0)[1:]
    if status != 0:
        sys.exit(f"{command} ended with {os.waitstatus_to_exitcode(status)}:\n{output.decode()}")
    return usage


def run_until_shown():
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, {**os.environ, "COLUMNS": COLUMNS, "LINES": ROWS})
    shown = ""
    while not re.search(mark, shown):
        try:
            shown += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            sys.exit(f"{command} never showed {mark}:\n{shown}")
    os.kill(child, signal.SIGKILL)
    return os.wait4(child, 0)[2]


usage = run_until_shown() if mark else run_to_end()
print((usage.ru_utime + usage.ru_stime) * 1000)
