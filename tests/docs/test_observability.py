"""The example dashboard, rules and services, and the page about them, are of the metrics that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plimsoll.metrics.families import BOUNDS_US, FAMILIES, Kind
from plimsoll.metrics.prometheus import exposition
from plimsoll.metrics.totals import Totals
from plimsoll.record.level import Level
from plimsoll.run.live import LiveSample
from plimsoll.run.watch import LATEST_METRICS
from support.dashboard import DASHBOARD, FOLDER, RULES, rule_expressions, written_expressions
from support.live_intervals import live_interval_of
from support.prometheus import promtool
from support.repository import ROOT

PAGE = ROOT / "docs" / "observability.md"
LABELS = {
    name: set(family.labels)
    for family in FAMILIES
    for name in (
        [f"{family.prometheus_name}_{end}" for end in ("bucket", "sum", "count")]
        if family.kind is Kind.HISTOGRAM
        else [family.prometheus_name]
    )
}
LABELS["plimsoll_response_seconds_bucket"] |= {"le"}
OF_PROMETHEUS = {"instance", "job"}
"""Labels that Prometheus adds."""


@pytest.mark.parametrize("expression", [*dict.fromkeys(written_expressions()), *rule_expressions()])
def test_queries_name_metrics_and_labels_that_there_are(expression: str) -> None:
    names = re.findall(r"\bplimsoll_\w+", expression)
    assert names
    assert not set(names) - LABELS.keys()
    known = set.union(*(LABELS[name] for name in names)) | OF_PROMETHEUS
    by = {label.strip() for group in re.findall(r"(?:by|on) \(([^)]*)\)", expression) for label in group.split(",")}
    matched = set(re.findall(r"[{,]\s*(\w+)=~?\"", expression))
    valued = set(re.findall(r"label_values\(\w+, (\w+)\)", expression))
    assert (by | matched | valued) - {""} <= known


def test_legends_name_labels_that_their_query_keeps() -> None:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            kept = set(re.findall(r"\w+", "".join(re.findall(r"by \(([^)]*)\)", target["expr"]))))
            is_summed = re.match(r"sum\(|histogram_quantile|(?:sum|max) by", target["expr"])
            names = re.findall(r"plimsoll_\w+", target["expr"])
            known = kept if is_summed else set.union(*(LABELS[name] for name in names))
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert shown <= known, f"{panel['title']}: {target['expr']}"


def test_panels_lie_side_by_side() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + dx, at["y"] + dy) for dx in range(at["w"]) for dy in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_prometheus_takes_the_rules_and_the_configuration() -> None:
    promtool("check", "rules", RULES)
    promtool("check", "config", FOLDER / "prometheus.yml")


TEST_OF_RULES = """
rule_files: [{rules}]
evaluation_interval: 1s
tests:
  - interval: 1s
    input_series:
      - {{series: 'plimsoll_transactions_total{{instance="i",system="a",workload="w",type="t",outcome="completed"}}',
          values: '0+100x20 2000x60'}}
      - {{series: 'plimsoll_transactions_total{{instance="i",system="a",workload="w",type="t",outcome="failed"}}',
          values: '0+5x20 100x60'}}
      - {{series: 'plimsoll_transactions_total{{instance="i",system="a",workload="w",type="t",outcome="dropped"}}',
          values: '0x80'}}
      - {{series: 'plimsoll_trial_state{{instance="i",state="measure"}}', values: '1x80'}}
      - {{series: 'plimsoll_connections_open{{instance="i",system="a",workload="w"}}', values: '4x40 3x40'}}
      - {{series: 'plimsoll_level_connections{{instance="i",system="a",workload="w"}}', values: '4x80'}}
    promql_expr_test:
      - {{expr: 'plimsoll:transactions:rate10s', eval_time: 15s,
          exp_samples: [{{labels: 'plimsoll:transactions:rate10s{{system="a",workload="w"}}', value: 100}}]}}
    alert_rule_test:
      - {{eval_time: 18s, alertname: PlimsollNothingCompletes, exp_alerts: []}}
      - {{eval_time: 60s, alertname: PlimsollNothingCompletes, exp_alerts: [{{exp_labels: {{instance: i}},
          exp_annotations: {{summary:
            "Load runs, and no transaction has completed for 20 s. Look at the server and its error log."}}}}]}}
      - {{eval_time: 18s, alertname: PlimsollTransactionsFail, exp_alerts: [{{exp_labels: {{system: a, workload: w}},
          exp_annotations: {{summary:
            "4.762% of transactions of w on a fail. plimsoll_errors_total has the error numbers."}}}}]}}
      - {{eval_time: 70s, alertname: PlimsollTransactionsDropped, exp_alerts: []}}
      - {{eval_time: 40s, alertname: PlimsollConnectionsMissing, exp_alerts: []}}
      - {{eval_time: 60s, alertname: PlimsollConnectionsMissing,
          exp_alerts: [{{exp_labels: {{instance: i, system: a, workload: w}}, exp_annotations: {{summary:
            "Only 3 connections to a are open. Look at max_connections and at the server's error log."}}}}]}}
"""


def test_alerts_are_of_what_they_say(tmp_path: Path) -> None:
    test = tmp_path / "test.yml"
    test.write_text(TEST_OF_RULES.format(rules=RULES))
    promtool("test", "rules", test)


def test_prometheus_finds_nothing_wrong_with_the_text() -> None:
    totals = Totals()
    samples = [LiveSample(host="h", instance="a/0", metric=metric, value=0.5) for metric in LATEST_METRICS]
    totals.observe(
        live_interval_of(
            {"t": [10**6]},
            level=Level(connections=4, rate_tps=1.0),
            errors=[("retryable", 1213, 1)],
            lag_s={"a/1": 1.0},
            telemetry=samples,
        )
    )
    promtool("check", "metrics", text=exposition(totals.readings).decode())


def test_services_are_pinned_and_listen_on_loopback_only() -> None:
    text = (FOLDER / "compose.yaml").read_text()
    images = re.findall(r"image: (\S+)", text)
    assert len(images) == 2
    assert all(re.fullmatch(r"docker\.io/[\w/]+:v?\d+\.\d+\.\d+", image) for image in images)
    assert "ports:" not in text
    assert "--web.listen-address=127.0.0.1:9090" in text
    assert "GF_SERVER_HTTP_ADDR: 127.0.0.1" in text
    for name in re.findall(r"- \./(\S+?):", text):
        assert (FOLDER / name).is_file()
    provider = json.loads(DASHBOARD.read_text())["templating"]["list"][0]
    assert (provider["type"], provider["query"]) == ("datasource", "prometheus")


def test_the_page_lists_every_metric_with_its_labels() -> None:
    rows = re.findall(r"^\| `(plimsoll_\w+)` \| (\w+) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE)
    listed = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert listed == {family.prometheus_name: (family.kind.value, family.labels) for family in FAMILIES}


def test_the_page_lists_the_bounds() -> None:
    (line,) = re.findall(r"^Bounds, in milliseconds: (.*?)\.$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert [round(float(bound) * 1000) for bound in re.split(r",\s+", line)] == [*BOUNDS_US]
