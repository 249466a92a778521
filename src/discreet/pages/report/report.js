// Sorting, filtering and downloading the tables of a page. Everything is there without it. Texts only: never markup.
"use strict";
const marks = document.body.dataset;
const say = JSON.parse(marks.words);
const plain = (text) => text.trim().replaceAll(marks.thousands, "").replace(marks.decimal, ".").replaceAll("−", "-");
const number = (text) => (text.trim() === "–" ? -Infinity : Number(plain(text).replace("∞", "Infinity")));
const ends = (text) => text.split(" – ").map(number);
// What a label begins with, also in a bin "[−10, 0)"; labels without a number come last.
const first = (text) => Number(/^[[(]?([−-]?\d+(?:\.\d+)?)(?![\d.])/.exec(text.trim())?.[1].replace("−", "-") ?? Infinity);
const compare = (a, b) => (a === b ? 0 : a - b);
const rowsOf = (list) => [...list.querySelectorAll("tbody tr")];

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

// A label that a spreadsheet would take for a formula gets a quote in front.
const cell = (text) => `"${text.replaceAll('"', '""')}"`;
const label = (text) => cell(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

function csv(list, labels) {
  const heads = [...list.querySelectorAll("thead tr:first-child th")].slice(0, labels).map((one) => label(one.textContent.trim()));
  const flagged = list.dataset.flagged === "1";
  const lines = [[...heads, ...["value", "low", "high", ...(flagged ? ["quality"] : [])].map(cell)].join(",")];
  for (const row of rowsOf(list)) {
    const cells = [...row.cells].map((one) => one.textContent.trim());
    const [low, high] = cells[labels + 1].split(" – ").map(plain);
    const figures = [plain(cells[labels]), low, high ?? ""].map((one) => (one === "–" ? "" : one));
    const flag = flagged ? [cell(cells[labels + 2])] : [];
    lines.push([...cells.slice(0, labels).map(label), ...figures, ...flag].join(","));
  }
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}

function download(list, labels) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv(list, labels)], { type: "text/csv" }));
  link.download = `${list.dataset.name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function filter(list, wanted) {
  const words = wanted.toLowerCase();
  for (const row of rowsOf(list)) row.hidden = !row.textContent.toLowerCase().includes(words);
}

function by(a, b, place) {
  if (place === 0) return compare(number(a), number(b));
  if (place === 1) return compare(ends(a)[0], ends(b)[0]) || compare(ends(a)[1] ?? 0, ends(b)[1] ?? 0);
  return compare(first(a), first(b)) || a.localeCompare(b, undefined, { numeric: true });
}

function sortable(table, labels) {
  const heads = [...table.querySelectorAll("thead th")].filter((one) => !one.classList.contains("bars"));
  heads.forEach((head, place) => {
    const own = button(head.textContent.trim(), () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[place].textContent;
      const order = (a, b) => by(key(a), key(b), place - labels);
      const rows = rowsOf(table).sort((a, b) => (down ? order(b, a) : order(a, b)));
      table.tBodies[0].append(...rows);
    });
    own.className = "sort";
    head.replaceChildren(own);
  });
}

for (const list of document.querySelectorAll(".list")) {
  const labels = Number(list.dataset.labels);
  const tools = document.createElement("div");
  tools.className = "tools";
  const tables = list.querySelectorAll("table");
  if (list.dataset.rows > 12) {
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = say.filter;
    box.setAttribute("aria-label", `${say.filter}: ${list.dataset.title}`);
    box.addEventListener("input", () => filter(list, box.value));
    tools.append(box);
  }
  const save = button(say.download, () => download(list, labels));
  save.setAttribute("aria-label", `${say.download}: ${list.dataset.title}`);
  tools.append(save);
  list.before(tools);
  if (tables.length === 1) sortable(tables[0], labels);
}
