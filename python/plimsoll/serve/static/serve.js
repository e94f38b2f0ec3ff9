// The pages of `plimsoll serve`. What comes from a server is only ever set as text.
(() => {
  "use strict";
  const make = (name, options = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (key === "class") element.className = value;
      else if (key === "text") element.textContent = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };

  // Figures, with as many decimals as their size deserves.
  const number = (value) => {
    const size = Math.abs(value);
    if (size === 0) return "0";
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const whole = (value) => Math.round(value).toLocaleString("en-US");
  const percent = (value) => [(value * 100).toLocaleString("en-US", { maximumFractionDigits: value < 0.1 ? 1 : 0 }), "%"];
  const ms = (value) => (value >= 1000 ? [number(value / 1000), "s"] : [number(value), "ms"]);
  const bytes = (value) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let index = 0;
    while (value >= 1024 && index < units.length - 1) { value /= 1024; index += 1; }
    return [index ? number(value) : whole(value), units[index]];
  };
  const clock = (seconds) => {
    const all = Math.max(Math.round(seconds), 0);
    const pad = (part) => String(part).padStart(2, "0");
    const hours = Math.floor(all / 3600), minutes = Math.floor(all / 60) % 60;
    return hours ? `${hours}:${pad(minutes)}:${pad(all % 60)}` : `${minutes}:${pad(all % 60)}`;
  };

  const CHARTS = [
    { title: "Throughput", wide: true, height: 220, series: [["tps", "transactions per second", 0]], show: (v) => [number(v), "tps"], fill: true },
    { title: "Response time", series: [["p50", "p50", 2], ["p95", "p95", 4], ["p99", "p99", 1]], show: ms, log: true },
    { title: "Processors", series: [["machine", "machine", 6, true], ["server", "server", 0], ["client", "load generator", 1], ["steal", "stolen", 7, true]], show: percent, max: 1 },
    { title: "Transactions in flight", series: [["in_flight", "sent", 0], ["waiting", "waiting for a connection", 1], ["connected", "open connections", 6, true]], show: (v) => [whole(v), ""] },
    { title: "Dirty pages", series: [["dirty", "of the buffer pool", 0]], show: percent, fill: true },
    { title: "Checkpoint age", series: [["checkpoint_age", "redo log", 0]], show: bytes, fill: true },
    { title: "History list", series: [["history", "length", 0]], show: (v) => [whole(v), ""], fill: true },
    { title: "Replica lag", series: [["lag", "furthest replica", 3]], show: (v) => ms(v * 1000), fill: true },
    { title: "Errors", series: [["errors", "failed statements per second", 7], ["failed", "failed transactions per second", 1]], show: (v) => [number(v), "/s"], positive: true },
  ];
  const TILES = [
    ["Throughput", "tps", (v) => [number(v), "tps"]],
    ["p50, last 10 s", "p50", ms], ["p95, last 10 s", "p95", ms], ["p99, last 10 s", "p99", ms],
    ["Failed statements", "errors", (v) => [number(v), "/s"]], ["Waiting for a connection", "waiting", (v) => [whole(v), ""]],
    ["Machine", "machine", percent], ["Server", "server", percent], ["Load generator", "client", percent],
    ["Replica lag", "lag", (v) => ms(v * 1000)],
  ];
  const STATES = { reset: "restoring the data", settle: "settling", warm: "warm-up", measure: "measuring", verify: "checking the rows" };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const has = (values) => values.some((value) => value !== null);

  // One trial: its figures at a position, and its charts.
  class Trial {
    constructor(root) {
      this.root = root;
      this.parts = Object.fromEntries([...root.querySelectorAll("[data-of]")].map((part) => [part.dataset.of, part]));
      this.isLive = root.dataset.mode === "live";
      this.isFollowing = true;
      this.plots = new Map();
      this.courses = new Map();
      this.shown = null;
      const { position, play } = this.parts;
      position.addEventListener("input", () => {
        this.isFollowing = this.isLive && Number(position.value) === Number(position.max);
        this.point(Number(position.value));
      });
      play.addEventListener("click", () => (this.isLive ? this.follow() : this.play()));
      this.sync = window.uPlot.sync("trial");
      new ResizeObserver(() => this.resize()).observe(this.parts.plots);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
    }

    take({ trial, course, trials }) {
      const id = trial.trial_id;
      const known = this.courses.get(id);
      if (known && course.since > 0 && known.course.revision === course.revision) {
        for (const [name, values] of Object.entries(course.columns)) {
          const column = known.course.columns[name];
          column.splice(course.since, column.length, ...values);
        }
        known.course = { ...course, columns: known.course.columns };
        known.trial = trial;
      } else if (!known || course.since === 0) {
        this.courses.set(id, { trial, course });
      }
      for (const other of [...this.courses.keys()]) {
        if (trials && other !== id && !trials.includes(other)) this.courses.delete(other);
      }
      if (!this.courses.has(this.shown)) { this.shown = id; this.isFollowing = true; this.rebuild(); }
      this.choices();
      if (id === this.shown) this.update();
    }

    choices() {
      const { choices } = this.parts;
      choices.hidden = this.courses.size < 2;
      const ids = [...this.courses.keys()].join();
      if (choices.dataset.ids === ids) return;
      choices.dataset.ids = ids;
      choices.replaceChildren(...[...this.courses].map(([id, { trial }]) => {
        const button = make("button", { type: "button", text: trial.system || id, "aria-pressed": String(id === this.shown) });
        button.addEventListener("click", () => {
          this.shown = id;
          for (const other of choices.children) other.setAttribute("aria-pressed", String(other === button));
          this.rebuild();
        });
        return button;
      }));
    }

    get course() { return this.courses.get(this.shown)?.course; }

    update() {
      const { trial, course } = this.courses.get(this.shown);
      const { panel, name, state, position } = this.parts;
      panel.hidden = false;
      const repetition = trial.repetition ? `, repetition ${trial.repetition}` : "";
      name.textContent = trial.system ? `${trial.system}, ${trial.workload}, ${trial.level}${repetition}` : "";
      const word = trial.verdict || course.state;
      state.hidden = !word;
      state.textContent = STATES[word] || word || "";
      state.className = `badge ${word || ""}`;
      const last = course.columns.at_s.length - 1;
      position.max = last;
      if (this.isFollowing) position.value = last;
      this.draw();
      this.measured(course.measured);
      this.errors(course.errors);
      this.point(Number(position.value));
    }

    follow() { this.isFollowing = true; this.update(); }

    play() {
      const { position, play } = this.parts;
      if (this.timer) { this.stop(); return; }
      if (Number(position.value) >= Number(position.max)) position.value = 0;
      play.textContent = "Pause";
      this.timer = setInterval(() => {
        position.value = Number(position.value) + 1;
        this.point(Number(position.value));
        if (Number(position.value) >= Number(position.max)) this.stop();
      }, 100);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.parts.play.textContent = "Play";
    }

    // The figures at a position; the cursor of all charts goes there.
    point(index, { fromChart = false } = {}) {
      const { columns } = this.course, { tiles, at, play } = this.parts;
      const last = columns.at_s.length - 1;
      index = Math.min(Math.max(index, 0), last);
      if (last < 0) return;
      if (!tiles.children.length) {
        TILES.forEach(([title], place) => {
          tiles.append(make("div", { class: place ? "tile" : "tile foremost" }, make("dt", { text: title }), make("dd")));
        });
      }
      TILES.forEach(([, column, show], place) => {
        const tile = tiles.children[place], value = columns[column][index];
        tile.hidden = !has(columns[column]);
        tile.dataset.column = column;
        tile.classList.toggle("bad", column === "errors" && value > 0);
        const [figure, unit] = value === null || value === undefined ? ["–", ""] : show(value);
        tile.lastChild.replaceChildren(figure, ...(unit ? [make("small", { text: unit })] : []));
      });
      at.textContent = `${clock(columns.at_s[index])} of ${clock(columns.at_s[last])}`;
      if (this.isLive) { play.textContent = "Latest"; play.disabled = this.isFollowing; }
      if (!fromChart) {
        for (const plot of this.plots.values()) {
          if (index === last && this.isFollowing && !this.timer) plot.setCursor({ left: -10, top: -10 }, false);
          else plot.setCursor({ left: plot.valToPos(columns.at_s[index], "x"), top: plot.over.clientHeight / 2 }, false);
        }
      }
    }

    rebuild() {
      for (const plot of this.plots.values()) { this.sync.unsub(plot); plot.destroy(); }
      this.plots.clear();
      this.parts.plots.replaceChildren();
      if (this.course) this.update();
    }

    resize() {
      for (const plot of this.plots.values()) {
        const width = plot.root.parentElement.clientWidth;
        if (width && width !== plot.width) plot.setSize({ width, height: plot.height });
      }
    }

    draw() {
      const { columns } = this.course;
      const wanted = CHARTS.filter((chart) => chart.series.some(([name]) =>
        chart.positive ? columns[name].some((value) => value > 0) : has(columns[name])));
      const titles = wanted.map((chart) => chart.title).join();
      if (titles !== [...this.plots.keys()].join()) {
        for (const plot of this.plots.values()) { this.sync.unsub(plot); plot.destroy(); }
        this.plots.clear();
        this.parts.plots.replaceChildren(...wanted.map((chart) => this.figure(chart, columns)));
        for (const chart of wanted) this.plots.set(chart.title, this.plot(chart, columns));
      } else {
        for (const chart of wanted) this.plots.get(chart.title).setData(this.data(chart, columns));
      }
    }

    figure(chart, columns) {
      const legend = make("span", { class: "legend" });
      for (const [name, text, series, isDashed] of chart.series) {
        if (!has(columns[name])) continue;
        const line = make("i", { class: isDashed ? "dashed" : "" });
        line.style.setProperty("--own", `var(--series-${series})`);
        legend.append(make("span", {}, line, text));
      }
      const caption = make("figcaption", {}, make("b", { text: chart.title }), legend);
      const figure = make("figure", { class: chart.wide ? "plot wide" : "plot", "data-chart": chart.title }, caption);
      chart.figure = figure;
      return figure;
    }

    data(chart, columns) {
      const known = chart.series.filter(([name]) => has(columns[name]));
      return [columns.at_s, ...known.map(([name]) => chart.log
        ? columns[name].map((value) => (value === null ? null : Math.max(value, 0.001))) : columns[name])];
    }

    plot(chart, columns) {
      const quiet = colour("--quiet"), grid = colour("--grid"), paper = colour("--paper");
      const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
      const known = chart.series.filter(([name]) => has(columns[name]));
      const nice = (plot, ticks) => ticks.map((tick) => (["1", "2", "5"].includes(tick.toExponential(0)[0]) ? tick : null));
      const axis = { stroke: quiet, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
      const shown = (value) => (value === null || value === undefined ? "" : chart.show(value).filter(Boolean).join(" "));
      const range = (plot, low, high) => [0, Math.max(high || 0, chart.max ? Math.min(chart.max, (high || 0) * 1.3 + 0.05) : 0) * 1.04 || 1];
      const options = {
        width: chart.figure.clientWidth || 600,
        height: chart.height || 170,
        legend: { show: false },
        padding: [8, 20, 0, 0],
        cursor: { sync: { key: "trial" }, drag: { x: false, y: false }, y: false, points: { size: 7 } },
        scales: { x: { time: false, range: (plot, low, high) => [Math.min(low, 0), Math.max(high, this.isLive ? 30 : 1)] },
                  y: chart.log ? { distr: 3 } : { range } },
        axes: [
          { ...axis, values: (plot, ticks) => ticks.map(clock), space: 60, size: 28, grid: { show: false } },
          { ...axis, size: 62, values: (plot, ticks) => ticks.map((tick) => shown(tick).replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "")), space: 32,
            ...(chart.log ? { filter: nice, grid: { ...axis.grid, filter: nice } } : {}),
            ...(chart.show === bytes ? { incrs: Array.from({ length: 50 }, (_, power) => 2 ** power) } : {}) },
        ],
        series: [{}, ...known.map(([, , series, isDashed]) => ({
          stroke: colour(`--series-${series}`), width: isDashed ? 1.25 : 1.75, dash: isDashed ? [5, 4] : undefined,
          points: { show: false }, spanGaps: false,
          fill: chart.fill ? `${colour(`--series-${series}`)}22` : undefined,
        }))],
        hooks: {
          drawClear: [(plot) => this.shade(plot)],
          setCursor: [(plot) => {
            if (plot.cursor.event && plot.cursor.idx !== null && plot.cursor.idx !== undefined) {
              this.point(plot.cursor.idx, { fromChart: true });
            } else if (plot.cursor.event && plot.cursor.left < 0) {
              this.point(Number(this.parts.position.value), { fromChart: true });
            }
          }],
        },
      };
      const plot = new window.uPlot(options, this.data(chart, columns), chart.figure);
      plot.root.setAttribute("role", "img");
      plot.root.setAttribute("aria-label", `${chart.title} over time`);
      return plot;
    }

    // What does not count is grey, as in the guide.
    shade(plot) {
      const { columns } = this.course, { ctx, bbox } = plot;
      ctx.save();
      ctx.fillStyle = colour("--wash");
      let from = null, begin = 0;
      columns.state.forEach((state, index) => {
        const start = Math.max(columns.at_s[index] - columns.length_s[index], 0);
        if (state !== "measure" && from === null) { from = index; begin = start; }
        if (from !== null && (state === "measure" || index === columns.state.length - 1)) {
          const end = state === "measure" ? start : columns.at_s[index];
          const left = plot.valToPos(begin, "x", true), right = plot.valToPos(end, "x", true);
          ctx.fillRect(left, bbox.top, right - left, bbox.height);
          from = null;
        }
      });
      ctx.restore();
    }

    measured(sum) {
      const { measured } = this.parts;
      if (!sum) { measured.replaceChildren(); return; }
      const facts = [["measured", `${clock(sum.duration_s)}`], ["completed", whole(sum.completed)], ["throughput", `${number(sum.tps)} tps`],
        ...["p50", "p95", "p99"].filter((name) => sum[name] !== null).map((name) => [name, ms(sum[name]).join(" ")]),
        ...(sum.failed ? [["failed", whole(sum.failed)]] : [])];
      const list = make("dl", { class: "what measured" }, ...facts.map(([title, text]) =>
        make("div", { "data-fact": title }, make("dt", { text: title }), make("dd", { text }))));
      measured.replaceChildren(make("h3", { text: this.isLive ? "Measured so far" : "What counts" }), list);
    }

    errors(rows) {
      const { errors } = this.parts;
      if (!rows.length) { errors.replaceChildren(); return; }
      const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "error" }),
        make("th", { scope: "col", class: "number", text: "in all" }), make("th", { scope: "col", class: "number", text: this.isLive ? "last 10 s" : "in the last 10 s" })));
      const body = make("tbody", {}, ...rows.map(([name, count, recent]) => make("tr", {}, make("th", { scope: "row", text: name }),
        make("td", { class: "number", text: whole(count) }), make("td", { class: "number", text: whole(recent) }))));
      errors.replaceChildren(make("h3", { text: "Errors by code" }), make("table", {}, head, body));
    }
  }

  // Where a study stands: cells that fill with figures, the answer so far, the machine.
  class Standing {
    constructor() {
      this.parts = Object.fromEntries([...document.querySelectorAll("[data-standing]")].map((part) => [part.dataset.standing, part]));
    }

    take(standing) {
      const { state, section, doing, answer, weather } = this.parts;
      this.parts.name.textContent = standing.name;
      state.textContent = standing.state;
      state.className = `badge ${standing.state}`;
      section.hidden = !standing.progress && !standing.tables.length;
      this.progress(standing.progress);
      doing.textContent = standing.doing || "";
      doing.hidden = !standing.doing;
      this.parts.tables.replaceChildren(...standing.tables.map((table) => this.table(table)));
      this.parts["answer-section"].hidden = !standing.answer.length;
      answer.replaceChildren(...standing.answer.map((line) => make("p", { text: line })));
      this.parts["machine-section"].hidden = !standing.weather.length;
      weather.textContent = standing.weather.join("; ");
      this.recordings(standing.latest.map((trial) => trial.trial_id).join());
    }

    // The list of recordings is the server's: it is asked for again when a trial has ended.
    async recordings(latest) {
      const isFirst = this.latest === undefined;
      if (latest === this.latest) return;
      this.latest = latest;
      if (isFirst) return;
      const answer = await fetch("").catch(() => null);
      if (!answer?.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("recordings");
      document.getElementById("recordings").replaceWith(fresh);
    }

    progress(progress) {
      const { progress: part } = this.parts;
      if (!progress) { part.replaceChildren(); return; }
      const fill = make("span");
      fill.style.width = `${(100 * progress.done) / Math.max(progress.planned, 1)}%`;
      const words = [`${progress.done} of ${progress.planned} trials complete`, ...(progress.remaining ? [progress.remaining] : [])];
      part.replaceChildren(make("div", { class: "bar" }, fill), make("p", { text: words.join(", ") }));
    }

    table({ workload, systems, rows }) {
      const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "level" }), ...systems.map((system) => make("th", { scope: "col", text: system }))));
      const body = make("tbody", {}, ...rows.map(({ level, cells }) => make("tr", {}, make("th", { scope: "row", text: level }), ...cells.map((cell) => this.cell(cell)))));
      const table = make("table", { class: "matrix" }, make("caption", { text: workload }), head, body);
      table.style.minWidth = `${6 + 7.5 * systems.length}rem`;
      return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": workload }, table);
    }

    cell({ planned, done, failed, running, tps, interval }) {
      const dots = make("span", { class: "dots", role: "img", "aria-label": `${done} of ${planned} repetitions complete` });
      if (planned <= 12) for (let index = 0; index < planned; index += 1) dots.append(make("i", { class: index < done ? "full" : index < done + failed ? "bad" : "" }));
      else dots.append(`${done} of ${planned}`);
      const figure = tps === null ? make("span", { class: "quiet", text: running ? "running" : "" }) : make("b", { text: `${number(tps)} tps` });
      const bounds = interval === null ? [] : [make("span", { class: "detail", text: interval })];
      return make("td", { class: [running ? "now" : "", failed ? "bad" : ""].join(" ").trim() }, figure, " ", dots, ...bounds);
    }
  }

  function live(root) {
    const trial = new Trial(root), standing = new Standing();
    const source = new EventSource(root.dataset.source);
    source.addEventListener("standing", (event) => {
      const document_ = JSON.parse(event.data);
      standing.take(document_);
      document.documentElement.dataset.standing = document_.state;
    });
    source.addEventListener("trial", (event) => {
      trial.take(JSON.parse(event.data));
      document.documentElement.dataset.intervals = String(trial.course.intervals);
    });
    source.addEventListener("ended", () => {
      source.close();
      document.documentElement.dataset.ended = "yes";
      document.querySelector("footer").prepend("The run has ended, and this page changes no more. ");
    });
  }

  async function replay(root) {
    const trial = new Trial(root);
    const taken = root.dataset.mode === "export" ? JSON.parse(document.getElementById("course").textContent)
      : await (await fetch(root.dataset.source)).json();
    if (!taken.course.columns.at_s.length) {
      trial.parts.name.textContent = "This recording has no intervals.";
    } else {
      trial.take(taken);
      if (taken.trial.reason) root.querySelector(".trial-head").append(make("p", { class: "note", text: taken.trial.reason }));
    }
    document.documentElement.dataset.intervals = String(taken.course.intervals);
  }

  // The list is asked for again while it is seen.
  function home(root) {
    setInterval(async () => {
      if (document.hidden || root.contains(document.activeElement)) return;
      const answer = await fetch("?part").catch(() => null);
      if (answer?.ok) root.replaceChildren(...new DOMParser().parseFromString(await answer.text(), "text/html").body.children);
    }, 5000);
  }

  for (const root of document.querySelectorAll("[data-mode]")) {
    ({ live, replay, export: replay, home })[root.dataset.mode](root);
  }
})();
