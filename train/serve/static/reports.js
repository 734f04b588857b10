// Reports: the tables and figures of `jaxgames report`, sortable.

import {remember} from "./address.js";
import * as api from "./api.js";
import {h} from "./dom.js";
import {RunList} from "./runlist.js";

export async function mount(root, query) {
  const list = new RunList({chosen: query.getAll("run"), changed: () => changed()});
  const place = h("div", {class: "report"});
  root.replaceChildren(h("div", {class: "split"}, list.element, place));
  let token = null;
  let timer = null;

  function changed() {
    clearTimeout(timer);
    const next = new URLSearchParams();
    for (const run of list.chosen) next.append("run", run);
    remember("reports", next);
    // Several boxes are often ticked one after the other.
    timer = setTimeout(load, 250);
  }

  async function load() {
    const mine = token = Symbol("report");
    const runs = [...list.chosen].filter((id) => list.runs.some((run) => run.id === id));
    if (!runs.length) {
      place.replaceChildren(h("section", {class: "card"}, h("h1", {}, "Reports"),
        h("p", {class: "muted"}, "Choose runs: their tables and figures, ours beside the papers', appear here.")));
      return;
    }
    place.replaceChildren(h("section", {class: "card"}, h("h1", {}, "Reports"), h("p", {class: "muted"}, "Reading…")));
    try {
      const report = await api.report(runs);
      if (token === mine) show(place, report, runs);
    } catch (error) {
      if (token === mine) place.replaceChildren(h("section", {class: "card"}, h("h1", {}, "Reports"), h("p", {}, error.message)));
    }
  }

  list.show((await api.runs()).runs);
  await load();
  return () => { token = null; clearTimeout(timer); };
}

function show(place, report, runs) {
  place.replaceChildren(
    ...report.parts.map(({heading, sections}) => h("section", {class: "card"}, h("h1", {}, heading),
      sections.map(({tables, figures}) => [
        tables.map((one) => table(one)),
        h("div", {class: "figures"}, figures.map(({name, title}) => figure(runs, name, title))),
      ]))),
    h("section", {class: "card"}, table(report.runs)));
}

function figure(runs, name, title) {
  const source = api.figure(runs, name);
  return h("figure", {}, h("a", {href: source, target: "_blank", rel: "noopener"},
    h("img", {src: source, alt: title, loading: "lazy", width: 640, height: 400})), h("figcaption", {}, title));
}

/** What a cell is sorted by: its first number, or its text. */
function sortKey(text) {
  const match = text.replaceAll(",", "").replace("−", "-").match(/-?\d+(\.\d+)?/);
  return match ? Number(match[0]) : text.toLowerCase();
}

function table({title, columns, groups, notes}) {
  const bodies = groups.map(() => h("tbody"));
  let order = null;
  const fill = () => groups.forEach((group, index) => {
    const rows = [...group.rows];
    if (order) {
      rows.sort((a, b) => {
        const [one, other] = [sortKey(a[order.column]), sortKey(b[order.column])];
        const isMixed = typeof one !== typeof other;
        const comparison = isMixed ? (typeof one === "number" ? -1 : 1) : one < other ? -1 : one > other ? 1 : 0;
        return order.isDown ? -comparison : comparison;
      });
    }
    bodies[index].replaceChildren(
      ...(group.title ? [h("tr", {class: "group"}, h("th", {colspan: columns.length, scope: "colgroup"}, group.title))] : []),
      ...rows.map((row) => h("tr", {}, row.map((cell, i) => (i ? h("td", {class: "numeric"}, cell) : h("th", {scope: "row"}, cell))))));
  });
  const heads = columns.map((name, column) => h("th", {scope: "col", class: column ? "numeric" : ""},
    h("button", {type: "button", class: "sort", onclick: () => {
      order = {column, isDown: order?.column === column ? !order.isDown : column > 0};
      heads.forEach((head, i) => (i === column ? head.setAttribute("aria-sort", order.isDown ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
      fill();
    }}, name || "row")));
  fill();
  return h("div", {class: "table-box"}, h("h2", {}, title),
    h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, heads)), bodies)),
    notes.map((note) => h("p", {class: "muted"}, note)));
}
