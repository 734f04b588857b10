// The frame: which page is shown, light or dark, and whether players are ready.

import {isNew} from "./address.js";
import * as api from "./api.js";
import {button, h} from "./dom.js";
import * as play from "./play.js";
import * as reports from "./reports.js";
import * as training from "./training.js";

const PAGES = {
  play: (root, query) => play.mount(root, query, {isWatching: false}),
  watch: (root, query) => play.mount(root, query, {isWatching: true}),
  training: training.mount,
  reports: reports.mount,
};
const TITLES = {play: "Play", watch: "Watch", training: "Training", reports: "Reports"};
const THEMES = {auto: "◐", light: "☀", dark: "☾"};

const view = document.getElementById("view");
let leave = () => {};

/** Shows the page that the address names: #play?game=ttt3d&moves=5+6. */
async function show() {
  const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
  const page = name in PAGES ? name : "play";
  const text = query ?? "";
  if (!isNew(page, text)) return;
  leave();
  document.title = `${TITLES[page]} · jaxgames`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const root = h("div", {class: `page ${page}`});
  view.replaceChildren(root);
  try {
    leave = await PAGES[page](root, new URLSearchParams(text)) ?? (() => {});
  } catch (error) {
    leave = () => {};
    root.replaceChildren(problem(error));
  }
}

function problem(error) {
  return h("section", {class: "card problem"},
    h("h1", {}, "That did not work"),
    h("p", {}, error.message),
    button("Start anew", () => { location.hash = "#play"; }));
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch { /* Private windows may have no storage; then it is not kept. */ }
  const switcher = document.getElementById("theme");
  switcher.textContent = THEMES[theme];
  switcher.setAttribute("aria-label", `Colours: ${theme}. Change`);
  switcher.title = `Colours: ${theme}`;
  switcher.onclick = () => {
    const names = Object.keys(THEMES);
    setTheme(names[(names.indexOf(theme) + 1) % names.length]);
  };
}

const ready = document.getElementById("ready");

/** Shows how far the players are, until all are ready. */
async function watchReady() {
  for (;;) {
    const now = await api.status();
    if (now.is_ready) {
      ready.replaceChildren(h("span", {class: "dot"}), "ready");
      ready.title = "All bundled players are compiled";
      return;
    }
    ready.replaceChildren(
      h("progress", {max: now.total, value: now.done, "aria-label": "Players getting ready"}),
      `${now.done} of ${now.total} ready`);
    ready.title = now.doing;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

addEventListener("server", ({detail}) => {
  if (detail.isAway) {
    ready.replaceChildren(h("span", {class: "dot away"}), "no server, trying again");
  } else {
    watchReady();
  }
});

let theme = "auto";
try {
  theme = localStorage.getItem("theme") ?? "auto";
} catch { /* As above. */ }
setTheme(theme in THEMES ? theme : "auto");
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  view.focus();
});
addEventListener("hashchange", show);
show();
watchReady();
