// Training curves, live: runs are followed through what they write.

import {remember} from "./address.js";
import * as api from "./api.js";
import {Chart} from "./chart.js";
import {chooser, h, number} from "./dom.js";
import {RunList, shortLabels} from "./runlist.js";

// Milliseconds between looks at the runs.
const PERIOD = 2000;
const COLORS = 6;
const FIELDS = new Set(["test", "trial", "games"]);
const BANDS = {sd: "± standard deviation", range: "lowest to highest"};

export async function mount(root, query) {
  const page = new Training(root, query);
  await page.open();
  return () => page.leave();
}

class Training {
  constructor(root, query) {
    this.root = root;
    this.metric = query.get("metric") ?? "score";
    this.band = query.get("band") in BANDS ? query.get("band") : "sd";
    this.logs = new Map();
    this.papers = new Map();
    this.list = new RunList({chosen: query.getAll("run"), changed: () => this.#changed()});
    this.chart = new Chart({xLabel: "games"});
  }

  async open() {
    this.fields = h("div", {class: "row chart-fields"});
    this.papersPlace = h("div");
    this.root.replaceChildren(
      h("div", {class: "split"}, this.list.element,
        h("section", {class: "card"}, h("h1", {}, "Training"), this.fields, this.chart.element, this.papersPlace)));
    await this.#look();
    if (!this.list.chosen.size && this.list.runs.length) {
      const live = this.list.runs.filter((run) => run.is_live);
      for (const run of live.length ? live.slice(0, COLORS) : this.list.runs.slice(0, 1)) this.list.chosen.add(run.id);
      this.list.text = "";
    }
    await this.#changed();
    this.timer = setInterval(() => this.#tick(), PERIOD);
  }

  leave() {
    this.isLeft = true;
    clearInterval(this.timer);
    this.chart.leave();
  }

  async #look() {
    this.list.show((await api.runs()).runs);
  }

  async #tick() {
    if (this.isLooking || document.hidden) return;
    this.isLooking = true;
    try {
      await this.#look();
      await this.#follow();
    } catch {
      // The server is away; it is asked again.
    } finally {
      this.isLooking = false;
    }
  }

  async #changed() {
    this.list.show(this.list.runs.map((run) => ({...run})));
    this.#remember();
    await this.#follow();
  }

  #remember() {
    const query = new URLSearchParams();
    for (const run of this.list.chosen) query.append("run", run);
    query.set("metric", this.metric);
    if (this.band !== "sd") query.set("band", this.band);
    remember("training", query);
  }

  get chosen() {
    return this.list.runs.filter(({id}) => this.list.chosen.has(id));
  }

  /** Reads what was written since, and draws if there was anything. */
  async #follow() {
    const parts = await Promise.all(this.chosen.map((run) => this.#readMore(run)));
    if (this.isLeft) return;
    const key = JSON.stringify([this.chosen.map(({id}) => id), this.metric, this.band]);
    if (parts.some(Boolean) || key !== this.drawn) {
      this.drawn = key;
      this.#draw();
    }
  }

  async #readMore(run) {
    if (!this.logs.has(run.id)) {
      this.logs.set(run.id, {offset: 0, tests: new Map(), metrics: new Set()});
      api.papers(run.id).then(({papers}) => { this.papers.set(run.id, papers); this.#draw(); }).catch(() => {});
    }
    const log = this.logs.get(run.id);
    // The list is looked at often; a log only if its run was written to.
    if (log.written === run.written && !log.hasMore) return false;
    let found = false;
    do {
      const chunk = await api.metrics(run.id, log.offset);
      if (chunk.is_restarted) log.tests.clear();
      log.offset = chunk.offset;
      log.hasMore = chunk.has_more;
      for (const row of chunk.rows) this.#add(log, chunk.columns, row);
      found ||= chunk.rows.length > 0 || chunk.is_restarted;
    } while (log.hasMore && !this.isLeft);
    log.written = run.written;
    return found;
  }

  #add(log, columns, row) {
    const line = Object.fromEntries(columns.map((name, i) => [name, row[i]]));
    if (!log.tests.has(line.test)) log.tests.set(line.test, new Map());
    log.tests.get(line.test).set(line.trial, line);
    for (const name of columns) if (!FIELDS.has(name)) log.metrics.add(name);
  }

  #series(run, index) {
    const points = [];
    for (const trials of this.logs.get(run.id).tests.values()) {
      const lines = [...trials.values()].filter((line) => Number.isFinite(line[this.metric]));
      if (!lines.length) continue;
      const values = lines.map((line) => line[this.metric]);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1));
      const [low, high] = this.band === "sd" ? [mean - sd, mean + sd] : [Math.min(...values), Math.max(...values)];
      points.push({x: lines.reduce((sum, line) => sum + line.games, 0) / lines.length, mean, low, high, n: lines.length});
    }
    points.sort((a, b) => a.x - b.x);
    return {color: `var(--series-${index % COLORS + 1})`, points};
  }

  #draw() {
    const runs = this.chosen.filter(({id}) => this.logs.has(id));
    const metrics = new Set(runs.flatMap(({id}) => [...this.logs.get(id).metrics]));
    metrics.add(this.metric);
    const log = h("input", {type: "checkbox", checked: this.chart.isLog, onchange: () => this.chart.setLog(log.checked)});
    if (!this.fields.contains(document.activeElement)) {
      this.fields.replaceChildren(
        chooser("Metric", [...metrics].sort().map((name) => [name, name.replaceAll("_", " ")]), this.metric,
          (metric) => { this.metric = metric; this.chart.zoom = null; this.#changed(); }),
        chooser("Band", Object.entries(BANDS), this.band, (band) => { this.band = band; this.#changed(); }),
        h("label", {class: "switch"}, log, "logarithmic"));
    }
    const labels = shortLabels(runs.map(({label}) => label));
    const series = runs.map((run, index) => ({...this.#series(run, index), label: labels[index]}));
    const references = runs.flatMap((run, index) => (this.papers.get(run.id) ?? [])
      .filter((paper) => paper.metric === this.metric)
      .map((paper) => ({y: paper.mean, label: `paper: ${paper.column}`, color: `var(--series-${index % COLORS + 1})`})));
    this.chart.show({series, references, yLabel: this.metric.replaceAll("_", " ")});
    this.#showPapers(runs, series);
  }

  #showPapers(runs, series) {
    const rows = runs.flatMap((run, index) => (this.papers.get(run.id) ?? []).map((paper) => h("tr", {},
      h("th", {scope: "row"}, h("i", {class: "swatch", style: {background: series[index].color}}), series[index].label),
      h("td", {}, paper.table), h("td", {}, paper.column), h("td", {}, paper.metric.replaceAll("_", " ")),
      h("td", {class: "numeric"}, `${number(paper.mean, 3)}${paper.sd === null ? "" : ` ± ${number(paper.sd, 3)}`}`))));
    const legend = h("ul", {class: "legend"}, series.map(({label, color, points}) => h("li", {},
      h("i", {class: "swatch", style: {background: color}}), label,
      points.length ? h("b", {}, ` ${Number(points.at(-1).mean.toPrecision(4))}`) : h("span", {class: "muted"}, " nothing yet"))));
    this.papersPlace.replaceChildren(legend, ...(rows.length ? [h("div", {class: "scroll"}, h("table", {},
      h("caption", {}, "The papers' numbers of these runs, on the scale of the metric"),
      h("thead", {}, h("tr", {}, ["run", "table", "column", "metric", "paper"].map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", {}, rows)))] : []));
  }
}
