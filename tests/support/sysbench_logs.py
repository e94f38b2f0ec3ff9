"""Logs as the versions of sysbench print them, made up from their description: four figures each, known answers."""

from __future__ import annotations

from plimsoll.importers.trials import ImportedTrial, ImportResult

FAIRNESS = """
Threads fairness:
    events (avg/stddev):           250.0000/2.50
    execution time (avg/stddev):   9.9980/0.00
"""

HEADER = """
Running the test with following options:
Number of threads: {threads}
Report intermediate results every {step} second(s)
Initializing random number generator from current time


Initializing worker threads...

Threads started!

"""

NEWER_LINES = """
[ 1s ] thds: 4 tps: 99.50 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 41.85 err/s: 1.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 101.20 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 40.37 err/s: 0.00 reconn/s: 2.00
[ 3s ] thds: 3 tps: 98.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 42.61 err/s: 0.00 reconn/s: 0.00
"""

SQL_STATISTICS = """
SQL statistics:
    queries performed:
        read:                            4200
        write:                           1200
        other:                           600
        total:                           6000
    transactions:                        300    (99.90 per sec.)
    queries:                             6000   (1998.00 per sec.)
    ignored errors:                      1      (0.33 per sec.)
    reconnects:                          2      (0.67 per sec.)
"""

LATENCY = """
Latency (ms):
         min:                                    8.01
         avg:                                   40.02
         max:                                  123.45
         95th percentile:                       41.85
         sum:                                12006.00
"""

LOG_1_0 = (
    "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n"
    + HEADER.format(threads=4, step=1)
    + NEWER_LINES.lstrip()
    + SQL_STATISTICS.lstrip()
    + "\nGeneral statistics:\n    total time:                          3.0030s\n"
    + "    total number of events:              300\n"
    + LATENCY
    + FAIRNESS
)

LOG_1_1 = (
    "sysbench 1.1.0-df89d34 (using bundled LuaJIT 2.1.0-beta3)\n"
    + HEADER.format(threads=4, step=1).replace("Report", "Warmup time: 2s\nReport", 1)
    + "Warming up for 2 seconds...\n\n"
    + NEWER_LINES.lstrip()
    + SQL_STATISTICS.lstrip()
    + "\nThroughput:\n    events/s (eps):                      99.9001\n"
    + "    time elapsed:                        3.0030s\n    total number of events:              300\n"
    + LATENCY
    + FAIRNESS
)

OLDER_REPORT = """
OLTP test statistics:
    queries performed:
        read:                            42000
        write:                           12000
        other:                           6000
        total:                           60000
    transactions:                        3000   (99.90 per sec.)
    {errors}
    read/write requests:                 54000  (1798.20 per sec.)
    other operations:                    6000   (199.80 per sec.){reconnects}

General statistics:
    total time:                          30.0300s
    total number of events:              3000
    total time taken by event execution: 119.9400{unit}
    response time:
         min:                                  {minimum}
         avg:                                  {mean}
         max:                                  {maximum}
         approx. {percentile} percentile:               {high}
"""

LOG_0_5 = (
    "sysbench 0.5:  multi-threaded system evaluation benchmark\n"
    + HEADER.format(threads=4, step=10)
    + "[  10s] threads: 4, tps: 99.50, reads: 1400.00, writes: 400.00, response time: 41.85ms (95%), "
    "errors: 0.10, reconnects:  0.00\n"
    "[  20s] threads: 4, tps: 101.20, reads: 1400.00, writes: 400.00, response time: 40.37ms (95%), "
    "errors: 0.00, reconnects:  0.20\n"
    + OLDER_REPORT.format(
        errors="ignored errors:                      1      (0.03 per sec.)",
        reconnects="\n    reconnects:                          2      (0.07 per sec.)",
        unit="s",
        minimum="8.01ms",
        mean="40.02ms",
        maximum="123.45ms",
        percentile=" 95",
        high="41.85ms",
    )
    + FAIRNESS
)

LOG_0_4 = (
    "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n"
    + HEADER.format(threads=4, step=10).replace("Threads started!", "Doing OLTP test.\nThreads started!")
    + "[  10s] threads: 4, tps: 99.50, reads/s: 1400.00, writes/s: 400.00 response time: 41.85ms (99%)\n"
    "[  20s] threads: 4, tps: 101.20, reads/s: 1400.00, writes/s: 400.00 response time: 40.37ms (99%)\n"
    + OLDER_REPORT.format(
        errors="deadlocks:                           1      (0.03 per sec.)",
        reconnects="",
        unit="",
        minimum="0.00801s",
        mean="0.04002s",
        maximum="0.12345s",
        percentile=" 99",
        high="0.04185s",
    )
    + FAIRNESS
)

CSV_LINES = """
1,4,99.50,2000.00,1400.00,400.00,200.00,41.85,1.00,0.00
2,4,101.20,2000.00,1400.00,400.00,200.00,40.37,0.00,2.00
3,3,98.00,2000.00,1400.00,400.00,200.00,42.61,0.00,0.00
"""

_OBJECT = """
  {{
    "time":    {time},
    "threads": 4,
    "tps": {tps},
    "qps": {{
      "total": 2000.00,
      "reads": 1400.00,
      "writes": 400.00,
      "other": 200.00
    }},
    "latency": 41.85,
    "errors": {errors},
    "reconnects": {reconnects}
  }}"""

JSON_LINES = (
    "[\n"
    + ",".join(
        _OBJECT.format(time=time, tps=tps, errors=errors, reconnects=reconnects)
        for time, tps, errors, reconnects in (
            (1, "99.50", "1.00", "0.00"),
            (2, "101.20", "0.00", "2.00"),
            (3, "98.00", "0.00", "0.00"),
        )
    )
    + "\n]\n"
)


HISTOGRAM = """
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       8.013 |**                                       10
      39.997 |**************************************** 200
      41.851 |****************                         80
     123.276 |**                                       10

"""


def with_histogram(log: str) -> str:
    """The log with what `--histogram` prints, just before the final report."""
    return log.replace("SQL statistics", f"{HISTOGRAM.lstrip()}SQL statistics")


def with_lines(lines: str) -> str:
    """The log of 1.0 with other interval lines."""
    return LOG_1_0.replace(NEWER_LINES.strip(), lines.strip())


def only(result: ImportResult) -> ImportedTrial:
    """The one trial that was imported."""
    assert len(result.trials) == 1
    return result.trials[0]


def column(trial: ImportedTrial, name: str) -> list[float]:
    """A column of its intervals."""
    assert trial.intervals is not None
    return trial.intervals[name].to_list()
