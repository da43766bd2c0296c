/* Tables are folded, and filled when they are unfolded. */
function cellIn(tag, cell) {
  const [text, detail, best, number] = Array.isArray(cell) ? cell : [cell, "", 0, -1];
  const element = made(tag, tag === "th" ? { scope: "row" } : {});
  element.append(number < 0 ? text : made("a", { href: `#case=${keys[number]}`, textContent: text }));
  if (detail) element.append(" ", made("small", { textContent: detail.replaceAll("; ", "\n") }));
  if (best) element.className = "best";
  return element;
}

function rowIn(row) {
  const element = made("tr", {}, ...row.map((cell, at) => cellIn(at ? "td" : "th", cell)));
  element.rests = row.map((cell) => (Array.isArray(cell) ? cell[3] : -1)).filter((number) => number >= 0);
  return element;
}

function tableOf(kind, caption, columns, rows) {
  const heads = columns.map((text) => made("th", { scope: "col", textContent: text }));
  return made("table", { className: kind },
    made("caption", { textContent: caption }),
    made("thead", {}, made("tr", {}, ...heads)),
    made("tbody", {}, ...rows.map(rowIn)));
}

async function fill(folded) {
  if (!folded.open || folded.filled) return;
  folded.filled = true;
  const { table, number } = folded.dataset;
  const [caption, columns, rows] = (await part("tables"))[table][number];
  const kind = folded.dataset.table === "results" || rows.length > 60 ? "results" : "facts";
  folded.append(made("div", { className: "scroll" }, tableOf(kind, caption, columns, rows)));
  siftRows(folded);
}

function siftRows(folded) {
  for (const row of folded.querySelectorAll("tbody tr")) row.hidden = !anyPasses(row.rests);
}

make.set("table", fill);
document.addEventListener("toggle", (event) => {
  if (event.target.dataset.table) fill(event.target);
}, true);
