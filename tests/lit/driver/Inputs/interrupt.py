# Runs a command until it has written the named file, sends SIGTERM, and says how it ended.
import os
import signal
import subprocess
import sys
import time

path, command = sys.argv[1], sys.argv[2:]
process = subprocess.Popen(command)
while not (os.path.exists(path) and os.path.getsize(path)) and process.poll() is None:
    time.sleep(0.01)
process.send_signal(signal.SIGTERM)
status = process.wait(timeout=600)
print(f"ended by signal {-status}" if status < 0 else f"ended with {status}")
