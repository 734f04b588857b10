// Elements, and small things that every page needs.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Makes an HTML element: h("p", {class: "note"}, "text", child). */
export const h = (tag, properties, ...children) =>
  fill(document.createElement(tag), properties, children);

/** Makes an SVG element. */
export const s = (tag, properties, ...children) =>
  fill(document.createElementNS(SVG, tag), properties, children);

/** A <select> of [value, label] pairs, with the label before it. */
export function chooser(label, pairs, value, onchange) {
  const select = h("select", {onchange: () => onchange(select.value)},
    pairs.map(([key, text]) => h("option", {value: key}, text)));
  select.value = value;
  return h("label", {class: "field"}, h("span", {}, label), select);
}

export function button(text, onclick, properties = {}) {
  return h("button", {type: "button", onclick, ...properties}, text);
}

/** Has a screen reader say something. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

export const prefersStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const number = (value, digits = 0) =>
  value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});

/** A number in as few digits as tell it from others like it. */
export function brief(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return `${+(value / 1e9).toPrecision(3)}G`;
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}

/** Seconds as people say them: 45 s, 12 min, 3 h 20 min. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** Copies a text; where a browser does not allow it, shows the text to be copied. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
    return true;
  } catch {
    prompt(`Copy this ${what}:`, text);
    return false;
  }
}
