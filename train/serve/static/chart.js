// Curves over games with a band, several at once: zoom, read-off, and a table of it all.

import {announce, brief, button, h, s} from "./dom.js";

const MARGIN = {left: 54, right: 14, top: 12, bottom: 42};
const HEIGHT = 400;

/** Round numbers between two others, some five of them. */
function ticks(low, high, wanted = 5) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i += 1) found.push(i * step);
  return found;
}

function logTicks(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high); power += 1) found.push(10 ** power);
  return found.length > 1 ? found : ticks(low, high);
}

/**
 * A chart. Series: {label, color, points: [{x, mean, low, high, n}]}; references: {y, label, color}.
 */
export class Chart {
  constructor({xLabel}) {
    this.xLabel = xLabel;
    this.data = {series: [], references: [], yLabel: ""};
    this.zoom = null;
    this.isLog = false;
    this.cursor = null;
    this.width = 720;
    this.svg = s("svg", {class: "chart", tabindex: "0", role: "img", onkeydown: (event) => this.#key(event)});
    this.readOff = h("div", {class: "read-off", role: "status"});
    this.reset = button("Whole range", () => this.#setZoom(null), {class: "quiet", hidden: true});
    this.table = h("details", {class: "numbers", ontoggle: () => this.#drawTable()}, h("summary", {}, "Numbers"));
    this.element = h("div", {class: "chart-box"}, this.svg, h("div", {class: "chart-foot"}, this.readOff, this.reset), this.table);
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.max(280, Math.round(entry.contentRect.width));
      if (width === this.width) return;
      this.width = width;
      this.#draw();
    });
    this.observer.observe(this.element);
    this.#pointer();
  }

  leave() {
    this.observer.disconnect();
  }

  show(data) {
    this.data = data;
    this.#draw();
  }

  setLog(isLog) {
    this.isLog = isLog;
    this.zoom = null;
    this.#draw();
  }

  // Scales.

  #extent() {
    const all = this.data.series.flatMap(({points}) => points.map(({x}) => x)).filter((x) => !this.isLog || x > 0);
    if (!all.length) return [0, 1];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [this.isLog ? low : Math.min(0, low), high > low ? high : low + 1];
  }

  #scales() {
    const domain = this.zoom ?? this.#extent();
    const inside = this.data.series.flatMap(({points}) => points.filter(({x}) => x >= domain[0] && x <= domain[1]));
    const values = inside.flatMap(({low, high}) => [low, high]);
    values.push(...this.data.references.map(({y}) => y));
    let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 0.5;
    [low, high] = [low - room, high + room];
    // Shares fill their own range, no more.
    if (low < 0 && Math.min(...values) >= 0) low = 0;
    if (high > 1 && Math.max(...values) <= 1) high = 1.0001;
    const [left, right] = [MARGIN.left, this.width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom];
    const t = this.isLog ? Math.log10 : (x) => x;
    const back = this.isLog ? (x) => 10 ** x : (x) => x;
    const [from, to] = domain.map(t);
    return {
      domain, range: [low, high],
      x: (value) => left + (t(value) - from) / (to - from) * (right - left),
      y: (value) => bottom - (value - low) / (high - low) * (bottom - top),
      unx: (place) => back(from + (place - left) / (right - left) * (to - from)),
    };
  }

  // Drawing.

  #draw() {
    const {width, svg} = this;
    const scales = this.scales = this.#scales();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("aria-label", `${this.data.yLabel} over ${this.xLabel}: ${this.data.series.map(({label}) => label).join(", ") || "nothing chosen"}. Arrow keys read off, plus and minus zoom.`);
    const clip = s("clipPath", {id: "chart-clip"}, s("rect", {x: MARGIN.left, y: MARGIN.top,
      width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom}));
    const inside = s("g", {"clip-path": "url(#chart-clip)"});
    for (const {y, label, color} of this.data.references) {
      inside.append(s("path", {d: `M${MARGIN.left} ${scales.y(y)}H${width - MARGIN.right}`, class: "reference", style: {stroke: color}}),
        s("text", {x: width - MARGIN.right - 4, y: scales.y(y) - 5, class: "reference-label", style: {fill: color}}, label));
    }
    for (const {points, color} of this.data.series) {
      const shown = points.filter(({x}) => !this.isLog || x > 0);
      const at = (x, y) => `${scales.x(x).toFixed(1)} ${scales.y(y).toFixed(1)}`;
      const path = (key) => shown.map((point) => at(point.x, point[key]));
      if (!shown.length) continue;
      const band = [...path("high"), ...path("low").reverse()].join("L");
      inside.append(s("path", {d: `M${band}Z`, class: "band", style: {fill: color}}),
        s("path", {d: `M${path("mean").join("L")}`, class: "mean", style: {stroke: color}}));
      if (shown.length < 3) {
        inside.append(...shown.map(({x, mean}) => s("circle", {cx: scales.x(x), cy: scales.y(mean), r: 3, style: {fill: color}})));
      }
    }
    this.pointerLayer = s("g", {class: "pointer"});
    svg.replaceChildren(clip, this.#axes(scales), inside, this.pointerLayer);
    this.reset.hidden = this.zoom === null;
    this.#drawCursor();
    if (this.table.open) this.#drawTable();
  }

  #axes({domain, range, x, y}) {
    const across = this.isLog ? logTicks(...domain) : ticks(...domain, Math.max(3, Math.floor(this.width / 130)));
    return s("g", {class: "axes", "aria-hidden": "true"},
      ticks(...range).map((value) => [
        s("path", {d: `M${MARGIN.left} ${y(value)}H${this.width - MARGIN.right}`}),
        s("text", {x: MARGIN.left - 8, y: y(value) + 4, class: "left"}, brief(value))]),
      across.map((value) => s("text", {x: x(value), y: HEIGHT - MARGIN.bottom + 18}, brief(value))),
      s("text", {x: (MARGIN.left + this.width - MARGIN.right) / 2, y: HEIGHT - 6, class: "axis"}, this.xLabel));
  }

  // Reading off.

  #nearest(points, x) {
    return points.reduce((best, point) => (best && Math.abs(best.x - x) <= Math.abs(point.x - x) ? best : point), null);
  }

  #drawCursor() {
    this.pointerLayer?.replaceChildren();
    const shown = this.cursor === null ? [] : this.data.series
      .map((one) => ({...one, point: this.#nearest(one.points, this.cursor)})).filter(({point}) => point);
    if (!shown.length) {
      this.readOff.replaceChildren(h("span", {class: "muted"}, this.data.series.length
        ? "Point at the curves to read them off; drag to zoom." : "Choose runs to see their curves."));
      return "";
    }
    const {x, y} = this.scales;
    const place = x(shown[0].point.x);
    this.pointerLayer.append(s("path", {d: `M${place} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}`, class: "hair"}),
      ...shown.map(({point, color}) => s("circle", {cx: x(point.x), cy: y(point.mean), r: 4, style: {fill: color}})));
    const words = shown.map(({label, point}) => `${label}: ${brief(point.mean)}${point.n > 1 ? `, ${brief(point.low)} to ${brief(point.high)}, ${point.n} trials` : ""}`);
    this.readOff.replaceChildren(h("b", {}, `${brief(shown[0].point.x)} ${this.xLabel}`), ...shown.map(({label, color, point}) =>
      h("span", {class: "key"}, h("i", {style: {background: color}}), `${label} `, h("b", {}, brief(point.mean)),
        point.n > 1 ? h("span", {class: "muted"}, ` ${brief(point.low)}–${brief(point.high)}`) : "")));
    return `${brief(shown[0].point.x)} ${this.xLabel}. ${words.join(". ")}`;
  }

  #drawTable() {
    const old = this.table.querySelector("div");
    old?.remove();
    if (!this.table.open) return;
    this.table.append(h("div", {class: "scroll"}, this.data.series.map(({label, points}) => h("table", {},
      h("caption", {}, `${label}: ${this.data.yLabel}`),
      h("thead", {}, h("tr", {}, [this.xLabel, "mean", "from", "to", "trials"].map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", {}, points.slice(-200).map((point) => h("tr", {},
        [Math.round(point.x), brief(point.mean), brief(point.low), brief(point.high), point.n].map((cell) => h("td", {}, String(cell))))))))));
  }

  // By hand and by keys.

  #pointer() {
    let from = null;
    const place = (event) => (event.clientX - this.svg.getBoundingClientRect().left) / this.svg.getBoundingClientRect().width * this.width;
    this.svg.addEventListener("pointerdown", (event) => { from = place(event); });
    this.svg.addEventListener("pointermove", (event) => {
      const now = place(event);
      this.cursor = this.scales.unx(now);
      this.#drawCursor();
      if (from !== null && Math.abs(now - from) > 8) {
        const [left, right] = [Math.min(from, now), Math.max(from, now)];
        this.pointerLayer.append(s("rect", {x: left, y: MARGIN.top, width: right - left, height: HEIGHT - MARGIN.top - MARGIN.bottom, class: "selection"}));
      }
    });
    this.svg.addEventListener("pointerup", (event) => {
      const now = place(event);
      if (from !== null && Math.abs(now - from) > 8) this.#setZoom([from, now].sort((a, b) => a - b).map(this.scales.unx));
      from = null;
    });
    this.svg.addEventListener("pointerleave", () => {
      from = null;
      this.cursor = null;
      this.#drawCursor();
    });
    this.svg.addEventListener("dblclick", () => this.#setZoom(null));
  }

  #setZoom(zoom) {
    const [low, high] = this.#extent();
    this.zoom = zoom && [Math.max(low, zoom[0]), Math.min(high, zoom[1])];
    this.#draw();
  }

  #key(event) {
    const points = this.data.series[0]?.points.filter(({x}) => x >= this.scales.domain[0] && x <= this.scales.domain[1]) ?? [];
    if (!points.length || event.ctrlKey || event.altKey || event.metaKey) return;
    const now = this.cursor === null ? -1 : points.indexOf(this.#nearest(points, this.cursor));
    const places = {ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: points.length - 1};
    if (event.key in places) {
      this.cursor = points[Math.max(0, Math.min(points.length - 1, places[event.key]))].x;
      announce(this.#drawCursor());
    } else if (event.key === "+" || event.key === "-") {
      const [low, high] = this.scales.domain;
      const middle = this.cursor ?? (low + high) / 2;
      const factor = event.key === "+" ? 0.5 : 2;
      this.#setZoom([middle - (middle - low) * factor, middle + (high - middle) * factor]);
    } else if (event.key === "Escape" || event.key === "0") {
      this.#setZoom(null);
    } else {
      return;
    }
    event.preventDefault();
  }
}
