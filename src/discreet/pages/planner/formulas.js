"use strict";
/* What the page looks up and adds. Amounts are exact ratios of whole numbers, as in the plan. Errors and ε are read from tables
   of quotes, the worse of two where an amount stands between them: no formula of privacy or noise is here. `plan` is the document of the page,
   `state` what its controls say: {on, budget, releases: [{spend, rows, proportion}]}, all of it text. */

// Exact amounts: [numerator, denominator] ------------------------------------------------------------------------------

function read(text) {
  const ratio = /^\s*(\d{1,400})\s*\/\s*(\d{1,400})\s*$/.exec(text);
  if (ratio) return BigInt(ratio[2]) ? [BigInt(ratio[1]), BigInt(ratio[2])] : null;
  const found = /^\s*(\d{0,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (!found || !(found[1] || found[2])) return null;
  const digits = found[2] || "", power = Number(found[3] || 0) - digits.length;
  const whole = BigInt(found[1] + digits), ten = 10n ** BigInt(Math.abs(power));
  return power < 0 ? [whole, ten] : [whole * ten, 1n];
}

const plus = (a, b) => [a[0] * b[1] + b[0] * a[1], a[1] * b[1]];
const times = (a, b) => [a[0] * b[0], a[1] * b[1]];
const over = (a, b) => [a[0] * b[1], a[1] * b[0]];
const compare = (a, b) => (d => d < 0n ? -1 : d > 0n ? 1 : 0)(a[0] * b[1] - b[0] * a[1]);
const ceiling = a => (a[0] + a[1] - 1n) / a[1];

function double([numerator, denominator]) {
  const shift = BigInt(64 + 4 * Math.max(0, denominator.toString(16).length - numerator.toString(16).length));
  return Number((numerator << shift) / denominator) / 2 ** Number(shift);
}

function written(a) {
  let [numerator, denominator] = lowest(a), digits = 0;
  while (digits <= 40 && 10n ** BigInt(digits) % denominator) digits += 1;
  if (digits > 40) return `${numerator}/${denominator}`;
  const all = (numerator * 10n ** BigInt(digits) / denominator).toString().padStart(digits + 1, "0");
  return digits ? `${all.slice(0, -digits)}.${all.slice(-digits)}` : all;
}

function lowest([numerator, denominator]) {
  let a = numerator, b = denominator;
  while (b) [a, b] = [b, a % b];
  return [numerator / a, denominator / a];
}

/* The amount rounded down to this number of digits: what follows from it costs no more. */
function downTo(a, digits) {
  const power = digits - 1 - Math.floor(Math.log10(double(a))), ten = 10n ** BigInt(Math.abs(power));
  const scaled = times(a, power < 0 ? [1n, ten] : [ten, 1n]), down = scaled[0] / scaled[1];
  return power < 0 ? [down * ten, 1n] : [down, ten];
}

/* The square root, rounded down. */
function rootDown([numerator, denominator]) {
  const many = 10n ** 12n, value = numerator * denominator * many * many;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (let next = root; next >= 0n;) {
    next = (root + value / root) >> 1n;
    if (next >= root) break;
    root = next;
  }
  return [root, denominator * many];
}

// Numbers for people, rounded up ---------------------------------------------------------------------------------------

const locale = () => plan.locale || "en";
const decimalMark = () => (1.5).toLocaleString(locale())[1];

/* An exact amount as the language of the page writes it, and as somebody types it. */
const spelled = text => text.replace(".", decimalMark());
const entered = text => decimalMark() === "," ? text.replace(",", ".") : text;

function rounded(value, digits = 4) {
  if (!(value < Infinity)) return "∞";
  if (value === 0) return "0";
  if (Number.isInteger(value) && value < 1e6) return value.toLocaleString(locale());
  const decimals = digits - 1 - Math.floor(Math.log10(value));
  const steps = Math.ceil(value * 10 ** decimals * (1 - 1e-11));
  if (value >= 1e9 || value < 1e-5) return spelled(`${steps / 10 ** (digits - 1)}e${digits - 1 - decimals}`);
  return (decimals > 0 ? steps / 10 ** decimals : steps * 10 ** -decimals)
    .toLocaleString(locale(), {maximumFractionDigits: Math.max(0, decimals)});
}

/* An exact amount with at most six digits, never below it: "ε = 0.1", "δ = 9e-7", "ρ ≤ 0.333334". */
function amount(symbol, value) {
  const size = double(value);
  if (!value[0]) return `${symbol} = 0`;
  const power = 5 - Math.floor(Math.log10(size)), ten = 10n ** BigInt(Math.abs(power));
  const scaled = times(value, power < 0 ? [1n, ten] : [ten, 1n]), up = ceiling(scaled);
  const shown = power < 0 ? [up * ten, 1n] : [up, ten], sign = compare(shown, value) ? "≤" : "=";
  return `${symbol} ${sign} ${spelled(size < 1e-4 || size >= 1e9 ? double(shown).toExponential().replace("+", "") : written(shown))}`;
}

// Errors ---------------------------------------------------------------------------------------------------------------

/* The worse of the two values between whose amounts x lies; a point is met by what is within rounding of it. */
function worse(at, values, x) {
  const known = k => values[k] === null || values[k] === undefined ? Infinity : values[k];
  let low = 0, high = at.length - 1;
  if (x < at[0] * (1 - 1e-9)) return Infinity;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] * (1 - 1e-9) <= x) low = middle; else high = middle - 1;
  }
  return x <= at[low] * (1 + 1e-9) || low + 1 === at.length ? known(low) : Math.max(known(low), known(low + 1));
}

/* ε at the reported δ, of the next larger amount that the document knows. */
function epsilonOf(plan, x) {
  if (!plan.epsilons) return x;
  const {at, epsilon} = plan.epsilons;
  let low = 0, high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] >= x * (1 - 1e-12)) high = middle; else low = middle + 1;
  }
  return low < at.length ? epsilon[low] : Infinity;
}

/* The outcome of release `place` in a state: {errors, sizes, spend, delta, advertised, refused}; an error for each size of a group. */
function outcome(plan, state, place) {
  const release = plan.releases[place], chosen = state.releases[place];
  const scene = plan.scenes[state.on], spend = read(chosen.spend), x = double(spend);
  const delta = release.delta === null ? null : times(read(release.delta), over(spend, read(release.spend)));
  const base = {spend, delta, advertised: null, refused: scene.refused, errors: [], sizes: []};
  if (scene.refused) return base;
  const curve = curveOf(plan, state, place);
  if (curve.refused) return {...base, refused: curve.refused};
  const look = values => values === null ? null : worse(release.at, values, x);
  return {...base, errors: curve.errors.map(sizes => sizes.map(look)), sizes: curve.sizes, advertised: look(curve.advertised)};
}

/* The table of quotes of a release for these totals, rows and proportion. */
function curveOf(plan, state, place) {
  const release = plan.releases[place], chosen = state.releases[place], {resize} = release;
  return release.curves[release.which[`${state.on}|${stopOf(resize, "proportion", chosen)}|${stopOf(resize, "rows", chosen)}`]];
}

/* For each statistic and size the noise, what comes to it and both together, at the positions `assumed` of the two shares; null where
   no whole error is stated, and nothing at all for a release whose steps move no number. */
function wholeErrors(plan, state, assumed, place, errors) {
  const facts = plan.whole && plan.whole[place];
  if (!facts || !errors.length) return null;
  const release = plan.releases[place], chosen = state.releases[place], {resize} = release;
  const parts = facts.parts[`${stopOf(resize, "proportion", chosen)}|${stopOf(resize, "rows", chosen)}`][assumed.nulls][assumed.cut];
  const curve = curveOf(plan, state, place), x = double(read(chosen.spend));
  return errors.map((sizes, k) => sizes.map((error, size) => {
    if (!parts[k][size]) return null;
    const [more, drawn] = parts[k][size], most = facts.most[k];
    const wide = most !== null && error !== null && error >= most;  // the number may be at one end, the true one at the other
    const noise = drawn ? worse(release.at, curve.strict[k][size], x) : wide ? 2 * error : error;
    return {noise, more, whole: noise + more};
  }));
}

/* The positions of the two shares at first: an example, for nothing is known. */
const initialShares = plan => plan.releases.map((_, place) => {
  const facts = plan.whole && plan.whole[place];
  return facts ? {nulls: facts.start[0], cut: facts.start[1]} : null;
});

/* The position of the proportion or the number of rows among those that have tables; nothing without a resize. */
function stopOf(resize, what, chosen) {
  if (!resize) return "";
  const list = what === "rows" ? resize.stops : resize.proportions;
  return list.findIndex(one => !compare(read(String(one)), read(chosen[what])));
}

/* The charge of all releases that are not stored yet, in the coordinates that the ledger adds: (ε), (ε, δ), (ρ) or (μ²). */
function charge(plan, outcomes, places = null) {
  const total = plan.remaining.map(() => [0n, 1n]);
  outcomes.forEach(({spend, delta}, place) => {
    if (plan.releases[place].stored || (places && !places.includes(place))) return;
    const parts = plan.measure === "gdp" ? [times(spend, spend)] : delta ? [spend, delta] : [spend];
    parts.forEach((part, k) => { total[k] = lowest(plus(total[k], part)); });
  });
  return total;
}

function left(plan, state) {
  const budget = read(state.budget);
  if (plan.frozen) return plan.remaining.map(read);
  if (plan.measure === "gdp") return [times(budget, budget)];
  return plan.budget_delta === null ? [budget] : [budget, read(plan.budget_delta)];
}

/* The budgets beside the one of the data set: what its releases are charged to each, and what each has left. */
const limits = (plan, outcomes) => (plan.limits || []).map(one => ({asked: charge(plan, outcomes, one.releases), left: one.left.map(read)}));

const fits = (asked, available) => asked.every((part, k) => compare(part, available[k]) <= 0);

/* Every spend times the factor, except the spends of stored releases: as texts. */
function byFactor(plan, spends, factor) {
  return spends.map((spend, place) => plan.releases[place].stored ? spend : written(times(read(spend), factor)));
}

/* The spends times the one factor with which they take all that is left; four digits of each, rounded down. Null for no spends. */
function shareOut(plan, state) {
  const spends = state.releases.map(one => one.spend), open = plan.releases.some(one => !one.stored);
  const outcomes = plan.releases.map((_, place) => outcome(plan, state, place));
  const whole = charge(plan, outcomes), own = {asked: whole, left: left(plan, state)};
  const budgets = [own, ...limits(plan, outcomes).filter(one => one.asked.some(part => part[0]))];
  if (!open || !whole.every(part => part[0]) || !budgets.every(one => one.left.every(part => part[0]))) return null;
  const parts = budgets.flatMap(one => one.asked.flatMap((part, k) => part[0] ? [over(one.left[k], part)] : []));
  const least = parts.reduce((a, b) => compare(a, b) <= 0 ? a : b);
  const factor = plan.measure === "gdp" ? rootDown(least) : least;
  return byFactor(plan, spends, factor).map((spend, place) => plan.releases[place].stored ? spend : written(downTo(read(spend), 4)));
}

/* The ε of an amount in additive coordinates, from the table or as it is. */
function epsilonOfCharge(plan, asked) {
  const size = plan.measure === "gdp" ? Math.sqrt(double(asked[0])) : double(asked[0]);
  return !asked[0][0] ? 0 : plan.epsilons ? epsilonOf(plan, size * (1 + 1e-12)) : size;
}

// The plan as text -----------------------------------------------------------------------------------------------------

function initial(plan) {
  return {
    on: plan.on,
    budget: plan.budget,
    releases: plan.releases.map(one => ({
      spend: one.spend, rows: one.resize && String(one.resize.rows), proportion: one.resize && one.resize.proportion,
    })),
  };
}

function planText(plan, state) {
  const first = initial(plan), changed = JSON.stringify(first) !== JSON.stringify(state);
  const quoted = text => `"${written(read(text))}"`;
  const slots = {
    budget: slot => first.budget === state.budget ? slot.was : `${slot.key} = ${quoted(state.budget)}\n`,
    spend: slot => changed || !slot.was ? spendText(plan, state, slot, changed) : slot.was,
    resize: slot => {
      const now = state.releases[slot.release], before = first.releases[slot.release];
      if (plan.kind === "python") return `${now.rows}, proportion=${quoted(now.proportion)}`;
      if (now.rows === before.rows && now.proportion === before.proportion) return slot.was;
      return `resize = { rows = ${now.rows}, proportion = ${quoted(now.proportion)} }\n`;
    },
    invariants: slot => {
      const kept = {};
      slot.entries.filter(entry => state.on[entry[2]] === "1").forEach(([word, value]) => { (kept[word] ||= []).push(value); });
      const lines = Object.entries(kept).map(([word, values]) => `${word} = [${values.join(", ")}]\n`);
      return lines.length ? `\n[invariants]\n${lines.join("")}` : "";
    },
  };
  return plan.written.map(piece => typeof piece === "string" ? piece : slots[piece.slot](piece)).join("");
}

function spendText(plan, state, slot, changed) {
  const {spend, delta} = outcome(plan, state, slot.release), one = `"${written(spend)}"`;
  const amounts = delta ? [one, `"${written(delta)}"`] : [one];
  if (plan.kind === "python") return `spend=${delta ? `(${amounts.join(", ")})` : one}`;
  return changed ? `spend = ${delta ? `[${amounts.join(", ")}]` : one}\n` : "";
}
