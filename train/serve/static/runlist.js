// The list of runs, of which some are chosen: for curves and for reports.

import {brief, button, duration, h} from "./dom.js";

const folder = (label) => label.split("/").slice(0, -1).join("/");

export class RunList {
  constructor({changed, chosen}) {
    this.changed = changed;
    this.chosen = new Set(chosen);
    this.runs = [];
    this.filter = h("input", {type: "search", placeholder: "Filter runs", "aria-label": "Filter runs", oninput: () => this.#draw()});
    this.list = h("div", {class: "runs"});
    this.element = h("section", {class: "card run-list"},
      h("div", {class: "row top-row"}, this.filter, button("None", () => { this.chosen.clear(); this.#draw(); this.changed(); })),
      this.list);
  }

  show(runs) {
    const text = JSON.stringify(runs.map(({age, ...rest}) => rest));
    if (text === this.text) return;
    this.text = text;
    this.runs = runs;
    this.#draw();
  }

  #draw() {
    const focused = document.activeElement?.dataset?.run;
    const words = this.filter.value.toLowerCase();
    const shown = this.runs.filter(({label, game}) => `${label} ${game}`.toLowerCase().includes(words));
    const groups = Map.groupBy ? Map.groupBy(shown, ({label}) => folder(label)) : groupBy(shown);
    this.list.replaceChildren(...[...groups].map(([name, runs]) => this.#group(name, runs)));
    if (!shown.length) {
      this.list.append(h("p", {class: "muted"}, this.runs.length ? "No run has such a name."
        : "There are no runs in the directories that are served. Try jaxgames train quickstart, then jaxgames serve checkpoints."));
    }
    if (!this.hasScrolled && this.chosen.size) {
      this.hasScrolled = true;
      // Within the list alone: the page stays where it is.
      requestAnimationFrame(() => {
        const first = this.list.querySelector(".run:has(input:checked)");
        this.element.scrollTop = first ? first.offsetTop - this.element.clientHeight / 3 : 0;
      });
    }
    if (focused) this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }

  #group(name, runs) {
    const areAll = runs.every(({id}) => this.chosen.has(id));
    const box = h("input", {type: "checkbox", checked: areAll, "data-run": `all ${name}`, "aria-label": `All of ${name || "these"}`, onchange: () => {
      for (const {id} of runs) this.chosen[box.checked ? "add" : "delete"](id);
      this.#draw();
      this.changed();
    }});
    return h("div", {class: "run-group"},
      name && runs.length > 1 ? h("label", {class: "group-name"}, box, name) : name ? h("p", {class: "group-name"}, name) : null,
      runs.map((run) => this.#row(run)));
  }

  #row(run) {
    const box = h("input", {type: "checkbox", checked: this.chosen.has(run.id), "data-run": run.id, onchange: () => {
      this.chosen[box.checked ? "add" : "delete"](run.id);
      this.#draw();
      this.changed();
    }});
    const facts = [run.game, run.trials > 1 ? `${run.trials} trials` : null,
      run.score === null ? null : `score ${(100 * run.score).toFixed(1)}%`].filter(Boolean);
    if (run.is_live && run.speed) facts.push(`${brief(run.speed)} games/s`);
    if (run.is_live && run.seconds_left !== null) facts.push(`${duration(run.seconds_left)} left`);
    const done = run.games_wanted ? run.games / run.games_wanted : 0;
    const state = run.is_live ? "training" : run.state;
    return h("label", {class: `run ${state}`},
      box, h("span", {class: "run-name"}, breakable(run.label.split("/").at(-1))),
      h("span", {class: "run-state"}, state === "finished" ? "" : state),
      h("span", {class: "run-facts muted"}, run.problem ?? facts.join(" · ")),
      state === "finished" ? null : h("progress", {max: 1, value: done, "aria-label": `${Math.round(100 * done)} percent of ${run.label}`}));
  }
}

/** A name that may be broken after its underscores. */
const breakable = (name) => name.split(/(?<=_)/).flatMap((part) => [part, h("wbr")]);

/** Labels without what all of them begin with. */
export function shortLabels(labels) {
  const parts = labels.map((label) => label.split("/"));
  let common = 0;
  while (parts.length && parts.every((one) => one.length > common + 1 && one[common] === parts[0][common])) common += 1;
  return parts.map((one) => one.slice(common).join("/"));
}

function groupBy(runs) {
  const groups = new Map();
  for (const run of runs) groups.set(folder(run.label), [...(groups.get(folder(run.label)) ?? []), run]);
  return groups;
}
