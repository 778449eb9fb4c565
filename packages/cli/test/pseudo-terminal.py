"""Runs a command in a pseudo terminal: what comes in is typed, what the command prints goes out. For machines without tmux."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))  # here, so that the command finds it set
    os.execvp(command[0], command)


def end(*_):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)  # no command outlives its test, and the test's processor time includes it
    os._exit(0)


signal.signal(signal.SIGTERM, end)
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            os.write(terminal, typed)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            shown = b""
        if not shown:
            break
        os.write(1, shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
