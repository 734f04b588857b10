// Choosing a player: you, an agent, or a kind of player with its options.

import {h} from "./dom.js";

const YOU = "you";

/** The name of a player and its options: mcts:simulations=200. */
function parse(spec) {
  const [name, rest] = spec.split(/:(.*)/s);
  const options = {};
  for (const part of rest ? rest.split(/,(?![^(]*\))/) : []) {
    const [key, value] = part.split(/=(.*)/s);
    if (value !== undefined) options[key] = value.replace(/^\((.*)\)$/, "$1");
  }
  return {name, options};
}

/** What may be chosen in a game: key, label, group, and the options that it has. */
function choices(setup, game) {
  const base = game.split(":")[0];
  const number = (name) => ({name, values: setup.choices[name].map(String)});
  const found = [{key: YOU, label: "You", group: ""}];
  const own = setup.agents.filter((agent) => agent.game === null || agent.game === undefined
    || agent.game.split(":")[0] === base);
  for (const agent of own) {
    const isBundled = agent.name === agent.label;
    const label = isBundled ? "Bundled agent" : agent.label;
    const trials = agent.trials ? [{name: "trial", values: Array.from({length: agent.trials}, (_, i) => String(i))},
      {name: "which", values: ["newest", "best"]}] : [];
    found.push({key: `agent ${agent.name}`, agent: agent.name, label, group: "Trained", options: trials});
    found.push({key: `guided ${agent.name}`, kind: "guided", agent: agent.name, label: `${label}, with tree search`,
      group: "Trained", options: [...trials, number("simulations")]});
    found.push({key: `lookahead ${agent.name}`, kind: "lookahead", agent: agent.name, label: `${label}, looking ahead`,
      group: "Trained", options: trials});
  }
  for (const player of setup.players) {
    const needsPlayer = player.options.some((option) => option.kind === "player");
    if (needsPlayer || !player.games.includes(base)) continue;
    const options = player.options.filter((option) => option.name in setup.choices)
      .map((option) => ({...number(option.name), default: String(option.default)}));
    found.push({key: player.name, label: player.name, title: player.summary, group: "Written by hand", options});
  }
  found.push({key: "other", label: "As on the command line…", group: "Any other"});
  return found;
}

const agentText = (agent, {trial, which}) =>
  `${agent}${trial && trial !== "0" ? `@${trial}` : ""}${which === "best" ? `${trial && trial !== "0" ? "" : "@0"}:best` : ""}`;

/** Returns the text of a choice with its options. */
function write(choice, values) {
  const {trial, which, ...rest} = values;
  const options = Object.entries(rest).map(([key, value]) => `${key}=${value}`);
  if (choice.agent === undefined) return options.length ? `${choice.key}:${options.join(",")}` : choice.key;
  const agent = agentText(choice.agent, {trial, which});
  if (choice.kind === undefined) return agent;
  return `${choice.kind}:${[`player=${/[@:]/.test(agent) ? `(${agent})` : agent}`, ...options].join(",")}`;
}

/** Finds the choice that a text stands for, with its options; null if there is none. */
function read(spec, all) {
  const direct = all.find((choice) => choice.key === spec && choice.key !== "other");
  if (direct) return {choice: direct, values: {}};
  const isAgent = (text) => all.some((choice) => choice.agent === text.replace(/(@\d+)?(:best)?$/, ""));
  const agentOptions = (text) => {
    const match = text.match(/^(.*?)(?:@(\d+))?(:best)?$/);
    return {agent: match[1], trial: match[2] ?? "0", which: match[3] ? "best" : "newest"};
  };
  if (isAgent(spec)) {
    const {agent, ...values} = agentOptions(spec);
    return {choice: all.find((choice) => choice.key === `agent ${agent}`), values};
  }
  const {name, options} = parse(spec);
  if (options.player && isAgent(options.player)) {
    const {agent, ...values} = agentOptions(options.player);
    const choice = all.find((one) => one.key === `${name} ${agent}`);
    const {player, ...rest} = options;
    return choice ? {choice, values: {...values, ...rest}} : null;
  }
  const choice = all.find((one) => one.key === name && one.agent === undefined);
  const known = new Set(choice?.options?.map((option) => option.name));
  return choice && Object.keys(options).every((key) => known.has(key)) ? {choice, values: options} : null;
}

/** What to call a player on the screen. */
export function title(setup, game, spec) {
  if (spec === YOU) return "You";
  const all = choices(setup, game);
  const found = read(spec, all);
  if (!found) return spec;
  const shown = Object.entries(found.values)
    .filter(([key, value]) => !(key === "trial" && value === "0") && !(key === "which" && value === "newest"))
    .map(([key, value]) => (key === "which" ? value : `${value} ${key}`));
  return [found.choice.label, ...shown].join(", ");
}

/** A chooser of players: calls changed(spec). */
export function picker(setup, game, label, spec, changed) {
  const all = choices(setup, game);
  const found = spec === YOU ? {choice: all[0], values: {}} : read(spec, all);
  const root = h("div", {class: "picker"});
  const select = h("select", {onchange: () => draw(select.value, {})});
  for (const group of new Set(all.map((choice) => choice.group))) {
    const inside = all.filter((choice) => choice.group === group)
      .map((choice) => h("option", {value: choice.key, title: choice.title}, choice.label));
    select.append(...(group ? [h("optgroup", {label: group}, inside)] : inside));
  }
  const extra = h("div", {class: "options"});
  root.append(h("label", {class: "field"}, h("span", {}, label), select), extra);

  function draw(key, values, tells = true) {
    select.value = key;
    const choice = all.find((one) => one.key === key);
    if (key === "other") {
      const input = h("input", {type: "text", value: tells ? "mcts:simulations=400" : spec, spellcheck: "false",
        maxlength: 240, "aria-label": `${label}, as on the command line`, onchange: () => changed(input.value.trim())});
      extra.replaceChildren(input);
      if (tells) input.select();
      return;
    }
    const current = {};
    extra.replaceChildren(...(choice.options ?? []).map((option) => {
      const preferred = option.name === "simulations" ? "400" : option.values[0];
      current[option.name] = values[option.name] ?? option.default ?? preferred;
      if (!option.values.includes(current[option.name])) current[option.name] = preferred;
      const inner = h("select", {onchange: () => { current[option.name] = inner.value; changed(write(choice, current)); }},
        option.values.map((value) => h("option", {value}, value)));
      inner.value = current[option.name];
      return h("label", {class: "field small"}, h("span", {}, option.name), inner);
    }));
    if (tells) changed(write(choice, current));
  }
  draw(found ? found.choice.key : "other", found?.values ?? {}, false);
  return root;
}
