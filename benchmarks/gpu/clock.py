"""The clock of all measurements in Python: runs that are queued one behind the other, so that the host's part hides behind the device's where it can."""
import statistics
import time

SECONDS = 0.1  # of a batch of queued runs
MOST_RUNS = 1000
BATCHES = 5


def batch(call, wait, runs):
  """Seconds until `runs` calls are queued, and until they have ended."""
  start = time.perf_counter()
  for _ in range(runs):
    result = call()
  queued = time.perf_counter() - start
  wait(result)
  return queued, time.perf_counter() - start


def measure(call, wait):
  """call() queues a run and returns its result, wait(result) waits for its end. Returns, for one run, {ms: of a queued one, single_ms: of one that is waited for, call_us: of the host's,
  until it is queued, runs: in a batch}."""
  for _ in range(3):  # compiles, captures graphs
    wait(call())
  single = statistics.median(batch(call, wait, 1)[1] for _ in range(BATCHES))
  runs = max(1, min(MOST_RUNS, int(SECONDS / single)))
  batches = [batch(call, wait, runs) for _ in range(BATCHES)]
  return {"ms": 1e3 * statistics.median(ended for _, ended in batches) / runs, "single_ms": 1e3 * single,
          "call_us": 1e6 * statistics.median(queued for queued, _ in batches) / runs, "runs": runs}
