"use strict";
/* Error against spend, both on scales of powers of ten: a line for each statistic, and a point where the controls stand. The lines go
   through the same tables of quotes as the numbers beside them. */

const PAPER = {width: 640, height: 260, left: matchMedia("(max-width: 40rem)").matches ? 92 : 62, right: 14, top: 10, bottom: 46};
const DASHES = ["", "7 4", "2 4", "10 4 2 4", "14 5", "4 2 1 2"];

function shape(kind, attributes, text) {
  const one = document.createElementNS(document.querySelector("svg").namespaceURI, kind);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  return one;
}

/* The place of a value between two ends, by its logarithm. */
const scale = (low, high, from, to) => value => from + (to - from) * Math.log(value / low) / Math.log(high / low);

/* 1, 2 and 5 times the powers of ten between two ends, or the powers alone where these are many. */
function ticks(low, high) {
  const found = [], steps = high / low > 2000 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  return found;
}

function drawChart(place, one, size) {
  const svg = document.querySelector(`svg[data-chart="${place}"]`);
  if (!svg || (svg.closest("details") && !svg.closest("details").open)) return;
  svg.replaceChildren();
  svg.parentElement.hidden = Boolean(one.refused);
  if (one.refused) return;
  const {at, statistics} = plan.releases[place], curve = curveOf(plan, state, place), x = double(one.spend);
  const lines = statistics.slice(0, DASHES.length).map((_, k) => curve.errors[k][size].map((error, n) => [at[n], error]).filter(([, error]) => error > 0));
  const known = lines.flat();
  svg.parentElement.hidden = !known.length;
  if (!known.length) return;
  const bands = lines.map((line, k) => bandOf(place, k, size, at));
  const xs = [...known.map(point => point[0]), x], ys = [...known, ...bands.flat()].map(point => point[1]);
  const right = scale(Math.min(...xs), Math.max(...xs), PAPER.left, PAPER.width - PAPER.right);
  const low = Math.min(...ys) / 1.15, high = Math.max(...ys) * 1.15, up = scale(low, high, PAPER.height - PAPER.bottom, PAPER.top);
  axes(svg, [Math.min(...xs), Math.max(...xs)], [low, high], right, up);
  svg.append(shape("line", {class: "here", x1: right(x), x2: right(x), y1: PAPER.top, y2: PAPER.height - PAPER.bottom}));
  bands.forEach((band, k) => {
    const below = lines[k].filter(([a]) => band.some(([b]) => a === b));
    if (below.length) svg.append(shape("polygon", {class: `band l${k}`, points: [...band, ...below.reverse()].map(([a, b]) => `${right(a).toFixed(1)},${up(b).toFixed(1)}`).join(" ")}));
  });
  lines.forEach((line, k) => {
    if (!line.length) return;
    svg.append(shape("polyline", {class: `line l${k}`, "stroke-dasharray": DASHES[k], points: line.map(([a, b]) => `${right(a).toFixed(1)},${up(b).toFixed(1)}`).join(" ")}));
    const now = one.errors[k][size];
    if (now > 0 && now < Infinity) svg.append(shape("circle", {class: `point l${k}`, cx: right(x), cy: up(now), r: 4.5}));
  });
  svg.setAttribute("aria-label", say("chart", {
    spend: amount(plan.symbol, one.spend), errors: statistics.map(({name}, k) => `${name} ${errorText(one.errors[k][size])}`).join(", "),
  }));
}

/* The upper edge of what is shaded above the line of a statistic: its whole error by spend, where that is more than the noise. */
function bandOf(place, k, size, at) {
  if (!plan.whole || !plan.whole[place]) return [];
  const curve = curveOf(plan, state, place), shares = assumed[place];
  const found = at.map((amount, n) => {
    const chosen = {...state, releases: state.releases.map((one, j) => j === place ? {...one, spend: String(amount)} : one)};
    const one = wholeErrors(plan, chosen, shares, place, curve.errors.map(sizes => sizes.map(line => line[n])))[k][size];
    return [amount, one && one.noise !== null ? one.whole : null];
  });
  return found.filter(([, whole], n) => whole > 0 && whole < Infinity && curve.errors[k][size][n] > 0);
}

function axes(svg, [left, end], [low, high], right, up) {
  const bottom = PAPER.height - PAPER.bottom;
  for (const value of ticks(left, end)) {
    svg.append(shape("line", {class: "grid", x1: right(value), x2: right(value), y1: PAPER.top, y2: bottom}));
    if (/^[125]e/.test(value.toExponential())) svg.append(shape("text", {class: "tick", x: right(value), y: bottom + 17, "text-anchor": "middle"}, value.toLocaleString(locale(), {maximumSignificantDigits: 2})));
  }
  for (const value of ticks(low, high)) {
    svg.append(shape("line", {class: "grid", x1: PAPER.left, x2: PAPER.width - PAPER.right, y1: up(value), y2: up(value)}));
    svg.append(shape("text", {class: "tick", x: PAPER.left - 6, y: up(value) + 4, "text-anchor": "end"}, value.toLocaleString(locale(), {maximumSignificantDigits: 2, notation: value < 1e6 ? "standard" : "compact"})));
  }
  svg.append(shape("text", {class: "tick", x: (PAPER.left + PAPER.width - PAPER.right) / 2, y: PAPER.height - 5, "text-anchor": "middle"}, say("axis", {symbol: plan.symbol})));
}
