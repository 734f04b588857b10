"""An engine that misbehaves in many ways: `python fake_engine.py WAY [PIDS]`.

It uses none of the project's code, so that nothing is tested against itself. Every
process writes its id into the file PIDS, if one is given.
"""

import os
import signal
import sys
import time

WAY = sys.argv[1] if len(sys.argv) > 1 else "good"


def write_pid() -> None:
  if len(sys.argv) > 2:
    with open(sys.argv[2], "a", encoding="utf-8") as file:
      file.write(f"{os.getpid()}\n")


def say(text: str) -> None:
  sys.stdout.write(text + "\n")
  sys.stdout.flush()


def flood(piece: bytes, seconds: float = 20) -> None:
  end = time.monotonic() + seconds
  while time.monotonic() < end:
    os.write(1, piece)


def stay() -> None:
  """Keeps running, and ignores SIGTERM."""
  signal.signal(signal.SIGTERM, signal.SIG_IGN)
  while True:
    time.sleep(1)


def fork_and_stay() -> None:
  if os.fork() == 0:
    write_pid()
    stay()


def before_start() -> None:
  """Misbehaves at the start, if that is the way."""
  if WAY == "crash-at-start":
    sys.stderr.write("no weights\n")
    sys.exit(3)
  if WAY == "slow-start":
    time.sleep(0.5)
  if WAY in ("fork", "fork-and-crash"):
    fork_and_stay()
  if WAY == "ignores-end":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
  if WAY == "noisy":
    sys.stderr.write("x" * 300_000 + "\n")
  if WAY == "deaf":
    say("OK")
    stay()


def answer(stones: set, size: int, num_turns: int) -> None:
  """Answers a turn, on a board with these stones."""
  free = next((x, y) for y in range(size) for x in range(size) if (x, y) not in stones)
  move = f"{free[0]},{free[1]}"
  stones.add(free)
  if num_turns < 2 or WAY == "good":
    say(move)
  elif WAY == "outside":
    say(f"{size},0")
  elif WAY == "taken":
    say("0,0")
  elif WAY == "malformed":
    say("pass")
  elif WAY == "error":
    say("ERROR I am lost")
  elif WAY == "unknown":
    say("UNKNOWN")
  elif WAY in ("crash", "fork-and-crash"):
    sys.stderr.write("Segmentation fault, I suppose\n")
    os._exit(7)
  elif WAY == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
  elif WAY == "closes":
    os.close(1)
    stay()
  elif WAY == "silent":
    stay()
  elif WAY == "flood":
    flood(b"x" * 65536)
  elif WAY == "messages":
    flood(b"MESSAGE " + b"x" * 5000 + b"\n")
  elif WAY == "garbage":
    os.write(1, bytes(range(256)) * 40 + b"\n")
  elif WAY == "raw":
    with open(sys.argv[3], "rb") as file:
      os.write(1, file.read())
  elif WAY == "noisy":
    sys.stderr.write("x" * 300_000)
    say("MESSAGE thinking\r\ndebug deep\n\nMESSAGE " + "x" * 100_000 + f"\n {move} \r")
  elif WAY == "twice":
    say(f"{move}\n0,0")
  else:
    say(move)


def main() -> None:
  write_pid()
  before_start()
  stones, size, num_turns = set(), 0, 0
  for line in sys.stdin:
    words = line.split()
    if words[0] == "START":
      size = int(words[1])
      say("ERROR too large" if WAY == "refuses" else "OK - at your service")
    elif words[0] == "RESTART":
      stones, num_turns = set(), 0
      if WAY == "leaves-after-game":
        sys.exit(0)
      say("UNKNOWN" if WAY == "no-restart" else "OK")
    elif words[0] in ("BEGIN", "TURN"):
      if words[0] == "TURN":
        stones.add(tuple(map(int, words[1].split(","))))
      num_turns += 1
      answer(stones, size, num_turns)
    elif words[0] == "BOARD":
      # Its own stones and the other's are alike to it.
      for stone in iter(sys.stdin.readline, "DONE\n"):
        stones.add(tuple(map(int, stone.split(",")[:2])))
      num_turns += 1
      answer(stones, size, num_turns)
    elif words[0] == "END":
      if WAY == "ignores-end":
        continue
      break
  if WAY == "ignores-end":
    stay()


if __name__ == "__main__":
  main()
