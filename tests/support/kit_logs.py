"""Logs of kits with a TPC-C-derived workload, written in the shapes that they publish, with known answers.

Each run lasts 30 s with 16 connections on 20 warehouses: 4,500 new orders, so 9,000 NOTPM.
"""

from __future__ import annotations

import json
import re

COUNTS = {"delivery": 400, "new_order": 4500, "order_status": 400, "payment": 4300, "stock_level": 400}
_LETTERS = {"new_order": "n", "payment": "p", "order_status": "o", "delivery": "d", "stock_level": "s"}

GO_TPC_COMMAND = "+ go-tpc tpcc -H 127.0.0.1 -psecret -T 16 --warehouses 20 --interval 10s --time 30s run\n"


def _figures(count: int, takes_s: float) -> dict[str, str]:
    """Mean 20 ms, and percentiles as go-tpc has them, with one significant digit."""
    return {
        "Takes(s)": f"{takes_s:.1f}",
        "Count": str(count),
        "TPM": f"{count / takes_s * 60:.1f}",
        "Sum(ms)": f"{count * 20:.1f}",
        "Avg(ms)": "19.9",
        "50th(ms)": "18.9",
        "90th(ms)": "28.3",
        "95th(ms)": "31.5",
        "99th(ms)": "41.9",
        "99.9th(ms)": "67.1",
        "Max(ms)": "83.9",
    }


def _reports() -> list[tuple[str, dict[str, dict[str, str]]]]:
    """Three intervals and the summary, with three errors of new orders in the second interval."""
    thirds = {name: _figures(round(count / 3), 9.9) for name, count in COUNTS.items()}
    first, second, third = ({**thirds, "new_order": _figures(count, 10.0)} for count in (1490, 1500, 1510))
    last = {**third, **{name: _figures(count - 2 * round(count / 3), 9.9) for name, count in COUNTS.items()}}
    last["new_order"] = third["new_order"]
    whole = {name: _figures(count, 29.9) for name, count in COUNTS.items()} | {"new_order": _figures(4500, 30.0)}
    second |= {"new_order_err": _figures(3, 10.0)}
    whole |= {"new_order_err": _figures(3, 30.0)}
    return [("Current", first), ("Current", second), ("Current", last), ("Summary", whole)]


def _plain(prefix: str, report: dict[str, dict[str, str]]) -> str:
    return "".join(
        f"[{prefix}] {name.upper():6} - {', '.join(f'{key}: {value}' for key, value in report[name].items())}\n"
        for name in sorted(report)
    )


def _as_json(prefix: str, report: dict[str, dict[str, str]]) -> str:
    rows = [{"Operation": name.upper(), "Prefix": f"[{prefix}] ", **report[name]} for name in sorted(report)]
    return json.dumps(rows, separators=(",", ":")) + "\n"


GO_TPC = (
    "".join(_plain(*report) for report in _reports()[:3])
    + "Finished\n"
    + _plain(*_reports()[3])
    + "tpmC: 9000.0, tpmTotal: 20000.0, efficiency: 3499.2%\n"
)

GO_TPC_JSON = (
    "".join(_as_json(*report) for report in _reports()[:3])
    + "Finished\n"
    + _as_json(*_reports()[3])
    + '[{"efficiency":"3499.2%","tpmC":"9000.0","tpmTotal":"20000.0"}]\n'
)

TPCC_MYSQL_LINES = """\
  10, trx: 1490, 95%: 31.681, 99%: 41.864, max_rt: 77.443, 1433|65.114, 133|11.739, 133|83.696, 133|70.223
  20, trx: 1500, 95%: 31.588, 99%: 41.494, max_rt: 73.516, 1433|66.150, 133|10.965, 133|77.845, 133|78.300
  30, trx: 1510, 95%: 31.475, 99%: 41.095, max_rt: 70.298, 1434|68.255, 134|10.937, 134|76.660, 134|77.742
"""

TPCC_MYSQL_OLDER_LINES = """\
  10, 1490(2):3.794|8.120, 1433(0):1.193|3.019, 133(0):0.529|1.412, 133(0):4.648|6.283, 133(0):7.640|9.171
  20, 1500(2):3.794|8.120, 1433(0):1.193|3.019, 133(0):0.529|1.412, 133(0):4.648|6.283, 133(0):7.640|9.171
  30, 1510(2):3.794|8.120, 1434(0):1.193|3.019, 134(0):0.529|1.412, 134(0):4.648|6.283, 134(0):7.640|9.171
"""

TPCC_MYSQL = f"""\
***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
option h with value '127.0.0.1'
option c with value '16'
<Parameters>
     [server]: 127.0.0.1
     [port]: 3306
     [DBname]: tpcc
       [user]: root
       [pass]: secret
  [warehouse]: 20
 [connection]: 16
     [rampup]: 10 (sec.)
    [measure]: 30 (sec.)

RAMP-UP TIME.(10 sec.)

MEASURING START.

{TPCC_MYSQL_LINES}
STOPPING THREADS................

<Raw Results>
  [0] sc:4400 lt:100  rt:2  fl:3 avg_rt: 20.0 (5)
  [1] sc:4300 lt:0  rt:0  fl:0 avg_rt: 10.0 (5)
  [2] sc:400 lt:0  rt:0  fl:0 avg_rt: 5.0 (5)
  [3] sc:400 lt:0  rt:0  fl:0 avg_rt: 40.0 (80)
  [4] sc:400 lt:0  rt:0  fl:0 avg_rt: 25.0 (20)
 in 30 sec.

<Raw Results2(sum ver.)>
  [0] sc:4401  lt:100  rt:2  fl:3
  [1] sc:4300  lt:0  rt:0  fl:0
  [2] sc:400  lt:0  rt:0  fl:0
  [3] sc:400  lt:0  rt:0  fl:0
  [4] sc:400  lt:0  rt:0  fl:0

<Constraint Check> (all must be [OK])
 [transaction percentage]
        Payment: 43.00% (>=43.0%) [OK]
 [response time (at least 90% passed)]
      New-Order: 97.78%  [OK]

<TpmC>
                 9000.000 TpmC
"""

DBT2_REPORT = """\
* Date: December 20, 2022
* Scale Factor: 20 warehouses
* DBMS: MariaDB 11.4

============  =====  =========  =========  ===========  ===========  =====
          ..     ..    Response Time (s)            ..           ..     ..
------------  -----  --------------------  -----------  -----------  -----
 Transaction      %   Average     90th %        Total    Rollbacks      %
============  =====  =========  =========  ===========  ===========  =====
    Delivery   4.00      0.040      0.060          400            0   0.00
   New Order  45.00      0.020      0.028         4500           45   1.00
Order Status   4.00      0.005      0.007          400            0   0.00
     Payment  43.00      0.010      0.014         4300            0   0.00
 Stock Level   4.00      0.025      0.035          400            0   0.00
============  =====  =========  =========  ===========  ===========  =====

* Throughput: 9000.00 new-order transactions per minute (NOTPM)
* Duration: 0.5 minute(s)
* Unknown Errors: 3
* Ramp Up Time: 0.1 minute(s)
"""

DBT2_OLDER_REPORT = """\
                         Response Time (s)
 Transaction      %    Average :    90th %        Total        Rollbacks      %
------------  -----  ---------------------  -----------  ---------------  -----
    Delivery   4.00      0.040 :     0.060          400                0   0.00
   New Order  45.00      0.020 :     0.028         4500               45   1.00
Order Status   4.00      0.005 :     0.007          400                0   0.00
     Payment  43.00      0.010 :     0.014         4300                0   0.00
 Stock Level   4.00      0.025 :     0.035          400                0   0.00
------------  -----  ---------------------  -----------  ---------------  -----

9000.00 new-order transactions per minute (NOTPM)
0.5 minute duration
3 total unknown errors
6 second(s) ramping up
"""


def dbt2_mix(part: int = 0, parts: int = 1) -> str:
    """One of `parts` mix logs: every hundredth new order rolled back, three that failed, and some of the ramp-up."""
    begin_s = 1_700_000_000.5
    rows = [(begin_s - 1, f"n,C,9.000000,{part},1,1"), (begin_s + 30.5, f"n,C,9.000000,{part},1,1")]
    for name, count in COUNTS.items():
        for index in range(count):
            code = "R" if name == "new_order" and index % 100 == 99 else "C"
            at_s = begin_s + (index + 0.5) / count * 30
            rows.append((at_s, f"{_LETTERS[name]},{code},{(1 + index % 100) / 1000:.6f},{part},1,1"))
    rows += [(begin_s + 15.25, f"n,E,0.001000,{part},1,1")] * 3
    rows += [(begin_s, f"START,,,{part},,"), (begin_s + 30.001, f"TERMINATED,,,{part},,")]
    marked = [row for row in rows if "START" in row[1] or "TERM" in row[1]]
    own = [row for index, row in enumerate(rows) if index % parts == part and row not in marked]
    return "".join(f"{at_s:.6f},{text}\n" for at_s, text in sorted([*own, *marked]))


_OLDER = re.sub(r" avg_rt: .*", "", TPCC_MYSQL.replace(TPCC_MYSQL_LINES, TPCC_MYSQL_OLDER_LINES))

ALL = {
    "go-tpc": GO_TPC_COMMAND + GO_TPC,
    "go-tpc-json": GO_TPC_COMMAND + GO_TPC_JSON,
    "tpcc-mysql": TPCC_MYSQL,
    "tpcc-mysql-older": _OLDER,
    "dbt2-report": DBT2_REPORT,
    "dbt2-older-report": DBT2_OLDER_REPORT,
    "dbt2-mix": dbt2_mix(),
}
