/* The winner map of a placement: a grid of the cases that pass the filters, made of the book, walked by arrow keys. */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text) {
  return text.replace(/[&<>"']/g, (letter) => ESCAPES[letter]);
}

function describeCell(number) {
  const names = cases.winners[number].map((winner) => book.candidates[winner]);
  const winner = names.join(cases.decided[number] ? " = " : " ~ ") || say("none: no candidate has a value that counts");
  return `${nameOf(number).replace(lines.placed[cases.line[number]], "")}: ${winner} ${cases.margin[number]}`.trimEnd();
}

function cellOf(number) {
  if (number === undefined) return "<td></td>";
  const [first, ...others] = cases.winners[number];
  const alone = first !== undefined && !others.length;
  const look = alone ? `c${first}" style="--part: ${22 + 0.56 * cases.strength[number]}%` : "tie";
  const margin = cases.margin[number];
  const below = margin && !"~=".includes(margin) ? `<small>${margin}</small>` : "";
  return `<td tabindex="-1" data-case="${number}" class="${look}" aria-label="${escaped(describeCell(number))}">${escaped(cases.mark[number])}${below}</td>`;
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
    `<tr><th scope="row">${escaped(row)}</th>${sizes.map((bytes) => cellOf(found.get(bytes))).join("")}</tr>`);
  const label = escaped(say("Fastest candidate by operation and message size, {place}", { place: figure.dataset.map }));
  figure.querySelector(".scroll").innerHTML = rows.size
    ? `<table role="grid" aria-readonly="true" aria-label="${label}"><thead><tr><td></td>${heads}</tr></thead><tbody>${body.join("")}</tbody></table>`
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
