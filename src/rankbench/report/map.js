/* The winner map of a placement: a grid of the cases that pass the filters, made of the book, walked by arrow keys. */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text) {
  return text.replace(/[&<>"']/g, (letter) => ESCAPES[letter]);
}

/* A cell is one or two halves: near and far, each with its winners, the sign between them, and the ratio to the next. */
function describeHalf([level, sign, winners, ratio]) {
  const names = winners.map((winner) => book.candidates[winner]).join(` ${sign} `);
  const text = winners.length ? `${sign === "only" ? "only " : ""}${names} ${ratio}`.trim() : say("none: no candidate has a value that counts");
  return level ? `${level}: ${text}` : text;
}

function describeCell(number) {
  const name = nameOf(number).replace(lines.placed[cases.line[number]], "");
  return `${name}: ${cases.halves[number].map(describeHalf).join(", ")}`;
}

function markOf([, sign, winners]) {
  const everyone = winners.length === book.candidates.length && winners.length > 1;
  if (everyone || !winners.length) return sign;
  const names = winners.map((winner) => book.letters[winner]);
  return sign === "only" ? `only ${names[0]}` : names.join(sign);
}

function tintOf([, sign, winners, , strength]) {
  if (sign) return { "~": "var(--tie)", "=": "var(--equal)" }[sign] ?? "var(--none)";
  return `color-mix(in srgb, var(--c${winners[0]}) ${22 + 0.56 * strength}%, #ffffff)`;
}

const LOOKS = { "=": "equal", "!": "none", only: "none" };

function cellOf(number) {
  if (number === undefined) return "<td></td>";
  const halves = cases.halves[number];
  const [whole] = halves;
  const below = halves.length < 2 && whole[3] ? `<small>${whole[3]}</small>` : "";
  const content = halves.length < 2
    ? escaped(markOf(whole)) + below
    : halves.map((half) => `<i>${escaped(markOf(half))}</i>`).join("");
  const look = halves.length < 2
    ? `class="${LOOKS[whole[1]] ?? "whole"}" style="--near: ${tintOf(whole)}"`
    : `class="split${halves.map(([, sign], at) => (sign === "=" ? ` equal-${at}` : "")).join("")}" style="--near: ${tintOf(halves[0])}; --far: ${tintOf(halves[1])}"`;
  return `<td tabindex="-1" data-case="${number}" ${look} aria-label="${escaped(describeCell(number))}">${content}</td>`;
}

/* How many cases each candidate wins alone, in the same way near and far. */
function countWins(numbers) {
  const wins = new Map();
  for (const number of numbers) {
    const [[, sign, winners], ...more] = cases.halves[number];
    if (!sign && !more.length) wins.set(winners[0], (wins.get(winners[0]) ?? 0) + 1);
  }
  const sorted = [...wins].sort((one, two) => two[1] - one[1]);
  return sorted.map(([winner, count]) => `<span style="--tint: var(--c${winner})">${escaped(book.letters[winner])} ${count}</span>`).join(" ");
}

function drawMap(figure) {
  const placement = book.placements.indexOf(figure.dataset.map);
  const rows = new Map();
  const columns = new Map();
  for (let number = 0; number < cases.line.length; number += 1) {
    const line = cases.line[number];
    if (!passes[number] || !cases.mapped[number] || lines.placement[line] !== placement) continue;
    const row = mapRow(line);
    const bytes = lines.sized[line] ? cases.bytes[number] : Infinity;
    if (!rows.has(row)) rows.set(row, new Map());
    rows.get(row).set(bytes, number);
    columns.set(bytes, sizeOf(number));
  }
  const sizes = [...columns.keys()].sort((one, two) => one - two);
  const heads = sizes.map((bytes) => `<th scope="col">${columns.get(bytes)}</th>`).join("");
  const body = [...rows].map(([row, found]) =>
    `<tr><th scope="row">${escaped(row)}</th>${sizes.map((bytes) => cellOf(found.get(bytes))).join("")}<td class="wins">${countWins(found.values())}</td></tr>`);
  const below = sizes.map((bytes) => countWins([...rows.values()].flatMap((found) => (found.has(bytes) ? [found.get(bytes)] : []))));
  const all = countWins([...rows.values()].flatMap((found) => [...found.values()]));
  const edge = all ? say("wins") : "";
  const foot = [...below, all].map((text) => `<td class="wins">${text}</td>`).join("");
  const label = escaped(figure.querySelector("figcaption").firstChild.textContent);
  figure.querySelector(".scroll").innerHTML = rows.size
    ? `<table role="grid" aria-readonly="true" aria-label="${label}"><thead><tr><td></td>${heads}<th scope="col">${edge}</th></tr></thead><tbody>${body.join("")}</tbody><tfoot><tr><th scope="row">${edge}</th>${foot}</tr></tfoot></table>`
    : "";
  const first = figure.querySelector("td[data-case]");
  if (first) first.tabIndex = 0;
}

make.set("map", drawMap);

const STEPS = {
  ArrowLeft: (row, column) => [row, column - 1],
  ArrowRight: (row, column) => [row, column + 1],
  ArrowUp: (row, column) => [row - 1, column],
  ArrowDown: (row, column) => [row + 1, column],
  Home: (row) => [row, 1],
  End: (row, _column, last) => [row, last],
};

/* Cells that are not measured are passed over. */
function neighbour(cell, step) {
  const table = cell.closest("table");
  let [row, column] = [cell.parentElement.rowIndex, cell.cellIndex];
  for (;;) {
    [row, column] = step(row, column, table.rows[0].cells.length - 1);
    const found = row > 0 && column > 0 && table.rows[row] && table.rows[row].cells[column];
    if (!found || found.dataset.case) return found;
    if (step === STEPS.Home) step = STEPS.ArrowRight;
    if (step === STEPS.End) step = STEPS.ArrowLeft;
  }
}

for (const figure of document.querySelectorAll("figure[data-map]")) {
  const own = (event) => event.target.closest("td[data-case]");
  figure.addEventListener("click", (event) => {
    if (own(event)) choose(Number(own(event).dataset.case));
  });
  figure.addEventListener("mouseover", (event) => {
    if (own(event)) own(event).title = own(event).getAttribute("aria-label");
  });
  figure.addEventListener("keydown", (event) => {
    const cell = own(event);
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") choose(Number(cell.dataset.case));
    else if (!(event.key in STEPS)) return;
    const next = event.key in STEPS && neighbour(cell, STEPS[event.key]);
    if (next) {
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
    event.preventDefault();
  });
}
