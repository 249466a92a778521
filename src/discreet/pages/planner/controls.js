"use strict";
/* The page: controls in, text out. Whatever comes from the plan reaches the page as textContent, never as HTML. */

const plan = JSON.parse(document.getElementById("plan").textContent);
let state = initial(plan);
let sizes = plan.releases.map(one => one.size);
let assumed = initialShares(plan);
const every = selector => [...document.querySelectorAll(selector)];
const tell = (selector, text) => every(selector).forEach(one => { one.textContent = text; });

// Sliders: positions are whole numbers, each of which stands for an amount ----------------------------------------------

const digits = (value, many) => written(read(value.toPrecision(many)));

function logarithmic(low, high, spell) {
  const per = 50;
  return {
    min: Math.ceil(per * Math.log10(low) - 1e-9), max: Math.floor(per * Math.log10(high) + 1e-9),
    text: k => spell(10 ** (k / per)),
    place: text => Math.round(per * Math.log10(double(read(text)))),
  };
}

/* A slider through amounts that have tables; a typed amount is shown at the largest of them that is not above it. */
const stops = list => ({
  min: 0, max: list.length - 1, text: k => String(list[k]),
  place: text => Math.max(0, list.filter(one => compare(read(String(one)), read(text)) <= 0).length - 1),
});

function scaleOf(what, release) {
  if (what === "budget") {
    const budget = double(read(plan.budget));
    return logarithmic(budget / 100, budget * 100, value => digits(value, 3));
  }
  if (what === "nulls" || what === "cut") return {
    min: 0, max: plan.whole[release][what].length - 1, text: k => k, place: k => k,
    spell: k => Number(plan.whole[release][what][k]).toLocaleString(locale(), {style: "percent", maximumFractionDigits: 1}),
  };
  const {positions, resize} = plan.releases[release];
  return stops({spend: positions, rows: resize && resize.stops, proportion: resize && resize.proportions}[what]);
}

const isAssumed = what => what === "nulls" || what === "cut";
const get = (what, release) => what === "budget" ? state.budget : (isAssumed(what) ? assumed : state.releases)[release][what];

function set(what, release, text) {
  if (what === "budget") state.budget = text; else (isAssumed(what) ? assumed : state.releases)[release][what] = text;
}

/* The error in an amount that was typed; empty if there is none. */
function wrong(text) {
  const value = read(text);
  if (!value || !(double(value) > 0) || !(double(value) < 1e60)) return say("wrong");
  return "";
}

function connect(box) {
  const {what, release} = box.dataset, scale = scaleOf(what, release);
  const slider = box.querySelector("input[type=range]"), field = box.querySelector("input[type=text]");
  Object.assign(slider, {min: scale.min, max: scale.max, step: 1});
  const spell = scale.spell || spelled;
  const place = () => {
    const text = get(what, release);
    slider.value = Math.min(scale.max, Math.max(scale.min, scale.place(text)));
    slider.setAttribute("aria-valuetext", spell(text));
    if (field && document.activeElement !== field) field.value = spell(text);
    box.querySelectorAll("output").forEach(one => { one.textContent = spell(text); });
  };
  slider.addEventListener("input", () => {
    set(what, release, scale.text(Number(slider.value)));
    if (field) field.value = spelled(get(what, release));
    accept(box, field, "");
    if (!isAssumed(what)) restFactor();
    show();
  });
  if (field) field.addEventListener("input", () => {
    const text = entered(field.value), problem = wrong(text);
    accept(box, field, problem);
    if (problem) return;
    set(what, release, written(read(text)));
    restFactor();
    show();
  });
  places.push(place);
}

function accept(box, field, problem) {
  box.querySelector(".problem").textContent = problem;
  if (field) field.setAttribute("aria-invalid", problem ? "true" : "false");
}

const places = [];

// The texts of the page ------------------------------------------------------------------------------------------------

/* A text of the language, with facts in the places of their names. */
const say = (key, facts = {}) => plan.words[key].replace(/\{(\w+)\}/g, (_, name) => facts[name]);

const atDelta = epsilon => say("at_delta", {epsilon: rounded(epsilon), delta: spelled(plan.report_delta)});

function guarantee(value, delta) {
  const size = double(value), stated = [amount(plan.symbol, value)];
  if (delta) stated.push(amount("δ", delta));
  if (plan.epsilons) stated.push(atDelta(epsilonOf(plan, size)));
  else stated.push(say(delta ? "factor_delta" : "factor", {factor: rounded(Math.exp(size) * (1 + 1e-10))}));
  return stated.join("; ");
}

function advertised(value, delta) {
  const epsilon = plan.epsilons ? `; ${atDelta(epsilonOf(plan, value))}` : "";
  return `${plan.symbol} ≤ ${rounded(value)}${delta ? `; ${amount("δ", delta)}` : ""}${epsilon}`;
}

const errorText = error => error === 0 ? say("exact") : `± ${rounded(error)}`;

/* The outcome of a release for a multiple of its spend. */
function atTimes(factor, place) {
  const releases = state.releases.map((one, k) => k === place ? {...one, spend: written(times(read(one.spend), factor))} : one);
  return outcome(plan, {...state, releases}, place);
}

function showRelease(one, place) {
  const release = plan.releases[place], size = sizes[place];
  tell(`[data-refused="${place}"]`, one.refused ? say("refused", {why: one.refused}) : "");
  const shown = {now: one, half: atTimes([1n, 2n], place), twice: atTimes([2n, 1n], place)};
  for (const [when, {refused, errors}] of Object.entries(shown))
    release.statistics.forEach((_, k) => tell(`[data-error="${place}:${k}:${when}"]`, refused ? "–" : errorText(errors[k][size])));
  release.statistics.forEach(({errors}, k) => tell(`[data-error="${place}:${k}:was"]`, errors[size] === null ? "± ∞" : errorText(errors[size])));
  showWhole(one, place);
  tell(`[data-short="${place}"]`, one.refused ? "" : shortText(one, place));
  tell(`[data-effective="${place}"]`, guarantee(one.spend, one.delta));
  every(`[data-beside="${place}"]`).forEach(row => { row.hidden = one.advertised === null; });
  if (one.advertised !== null) tell(`[data-advertised="${place}"]`, advertised(one.advertised, one.delta));
  if (release.resize) {
    const {resize} = release, chosen = state.releases[place];
    tell(`[data-resize="${place}"]`, resize.words[stopOf(resize, "proportion", chosen)][stopOf(resize, "rows", chosen)]);
  }
  every(`[data-size="${place}"]`).forEach(select => [...select.options].forEach((option, k) => {
    if (one.sizes.length) option.textContent = one.sizes[k].toLocaleString(locale());
  }));
  drawChart(place, one, size);
}

/* The whole errors at the shares that are assumed, with their parts. */
function showWhole(one, place) {
  if (!plan.whole || !plan.whole[place]) return;
  const found = wholeErrors(plan, state, assumed[place], place, one.errors);
  plan.releases[place].statistics.forEach((_, k) => {
    const parts = found && found[k][sizes[place]];
    for (const part of ["whole", "noise", "more"]) tell(`[data-whole="${place}:${k}:${part}"]`, parts ? part === "more" && !parts.more ? "0" : errorText(parts[part]) : "–");
  });
}

/* The errors of the first statistics on one line. */
function shortText(one, place) {
  const parts = plan.releases[place].statistics.slice(0, 4).map(({name, unit}, k) => `${name} ${errorText(one.errors[k][sizes[place]])}${unit && ` (${unit})`}`);
  return say("short", {errors: parts.join(" · "), rows: one.sizes[sizes[place]].toLocaleString(locale())});
}

function showScene() {
  tell("[data-scene]", plan.scenes[state.on].words);
}

function showCost(outcomes) {
  const asked = charge(plan, outcomes), available = left(plan, state), ok = fits(asked, available);
  const root = value => plan.measure === "gdp" ? Math.sqrt(double(value)) : double(value);
  const value = (parts) => plan.measure === "gdp" ? `μ ≤ ${rounded(root(parts[0]) * (1 + 1e-10), 6)}` : amount(plan.symbol, parts[0]) + (parts[1] ? `, ${amount("δ", parts[1])}` : "");
  tell("[data-cost]", value(asked));
  tell("[data-left]", plan.kind === "python" ? "" : ` ${say(plan.frozen ? "of_rest" : "of", {budget: value(available)})}`);
  const epsilon = epsilonOfCharge(plan, asked);
  tell("[data-epsilon]", plan.epsilons && epsilon > 0 ? ` · ${atDelta(epsilon)}` : "");
  tell("[data-over]", plan.kind === "python" || ok ? "" : say(plan.frozen ? "over_rest" : "over"));
  limits(plan, outcomes).forEach((one, k) => {
    tell(`[data-limit="${k}"]`, `${value(one.asked)} ${say("of_rest", {budget: value(one.left)})}`);
    tell(`[data-limit-over="${k}"]`, fits(one.asked, one.left) ? "" : say("over_rest"));
  });
  tell("[data-large]", epsilon > 10 ? say("large") : "");
  every("meter").forEach(meter => {
    meter.value = ok ? Math.min(1, Math.max(...asked.map((part, k) => double(part) / double(available[k]) || 0))) : 1;
    meter.high = ok ? 1 : 0;
  });
}

function show() {
  places.forEach(place => place());
  const outcomes = plan.releases.map((_, place) => outcome(plan, state, place));
  outcomes.forEach(showRelease);
  showScene();
  showCost(outcomes);
  tell("[data-written]", planText(plan, state));
}

// All spends together --------------------------------------------------------------------------------------------------

/* The spends that the factor multiplies: those at which it was 1. */
let base = null;
const spends = () => state.releases.map(one => one.spend);
const setSpends = all => all.forEach((spend, place) => { state.releases[place].spend = spend; });

function restFactor() {
  base = spends();
  every("[data-factor]").forEach(slider => { slider.value = 0; factorText("1"); });
}

function factorText(text) {
  tell("[data-times]", `× ${spelled(text)}`);
  every("[data-factor]").forEach(slider => slider.setAttribute("aria-valuetext", spelled(text)));
}

every("[data-factor]").forEach(slider => slider.addEventListener("input", () => {
  const text = digits(10 ** (Number(slider.value) / 50), 3);
  factorText(text);
  setSpends(byFactor(plan, base, read(text)));
  show();
}));

// Buttons --------------------------------------------------------------------------------------------------------------

function selectText() {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("[data-written]"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

const actions = {
  copy: () => {
    const done = () => tell("[data-done]", say("copied")), ask = () => { selectText(); tell("[data-done]", say("selected")); };
    if (navigator.clipboard) navigator.clipboard.writeText(planText(plan, state)).then(done, ask); else ask();
  },
  download: () => {
    const link = document.createElement("a"), file = new Blob([planText(plan, state)], {type: "application/toml"});
    link.href = URL.createObjectURL(file);
    link.download = plan.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    tell("[data-done]", say("saved", {file: plan.file}));
  },
  share: () => {
    const found = shareOut(plan, state);
    tell("[data-shared]", say(found ? "shared" : "nothing_left"));
    if (!found) return;
    setSpends(found);
    restFactor();
    show();
  },
  reset: () => {
    state = initial(plan);
    sizes = plan.releases.map(one => one.size);
    assumed = initialShares(plan);
    every("[data-size]").forEach(select => { select.selectedIndex = sizes[Number(select.dataset.size)]; });
    restFactor();
    tell("[data-shared]", "");
    every("[data-total]").forEach(box => { box.checked = plan.on[Number(box.dataset.total)] === "1"; });
    every("input[type=text]").forEach(field => field.setAttribute("aria-invalid", "false"));
    tell(".problem", "");
    tell("[data-done]", "");
    show();
  },
};

every("[data-what]").forEach(connect);
every("[data-total]").forEach(box => box.addEventListener("change", () => {
  state.on = every("[data-total]").map(one => one.checked ? "1" : "0").join("");
  show();
}));
every("[data-size]").forEach(select => select.addEventListener("change", () => {
  sizes[Number(select.dataset.size)] = select.selectedIndex;
  show();
}));
every("details[data-release-details]").forEach(box => box.addEventListener("toggle", () => show()));
every("[data-do]").forEach(button => button.addEventListener("click", () => actions[button.dataset.do]()));
document.documentElement.classList.add("live");
actions.reset();
