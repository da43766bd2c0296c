"use strict";
const book = JSON.parse(document.getElementById("book").textContent);
const root = document.documentElement;
const select = { line: document.getElementById("pick-line"), size: document.getElementById("pick-size") };

/* A chart is kept as the number of its form, its title, subtitle, and data sets whose first row names the columns. */
function unpacked([columns, ...rows]) {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

function described(form, title, subtitle, packed) {
  const datasets = Object.fromEntries(Object.entries(packed).map(([name, rows]) => [name, unpacked(rows)]));
  const fit = { width: "container", autosize: { type: "fit-x", contains: "padding" } };
  return { ...book.forms[form], ...fit, datasets, description: `${title}. ${subtitle}` };
}

async function draw(figure, key) {
  const entry = (book.charts[figure.dataset.plot] || {})[key];
  figure.dataset.key = key;
  figure.hidden = !entry;
  if (!entry) return;
  const [form, title, subtitle, packed] = entry;
  const caption = figure.querySelector("figcaption");
  caption.replaceChildren(title, Object.assign(document.createElement("small"), { textContent: subtitle }));
  const chart = figure.querySelector(".chart");
  const spec = described(form, title, subtitle, packed);
  chart.style.minWidth = `${spec.usermeta.least_width}px`;
  const result = await vegaEmbed(chart, spec, { actions: false, renderer: "svg", config: book.theme, defaultStyle: false });
  if (figure.view) figure.view.finalize();
  figure.view = result.view;
  figure.view.addEventListener("click", (_event, item) => {
    if (item && item.datum && item.datum.key) location.hash = `case=${item.datum.key}`;
  });
}

/* The chosen case is the address's fragment, so that a link leads to a case and Back leads back. */
const lineOf = new Map(book.cases.map(([key, line]) => [key, line]));

function fillSizes(line, chosen) {
  const options = book.cases.filter((entry) => entry[1] === line).map(([key, , size]) => new Option(size, key, false, key === chosen));
  select.size.replaceChildren(...options);
}

function choose(key) {
  const line = lineOf.get(key);
  if (!line) return;
  select.line.value = line;
  fillSizes(line, key);
  for (const figure of document.querySelectorAll("#case figure")) draw(figure, figure.dataset.scope === "case" ? key : line);
}

function follow() {
  const match = /^#case=(.+)$/.exec(decodeURIComponent(location.hash));
  if (!match || !lineOf.has(match[1])) return;
  choose(match[1]);
  document.getElementById("case").scrollIntoView();
}

select.line.addEventListener("change", () => {
  const size = select.size.selectedOptions[0].text;
  const cases = book.cases.filter((entry) => entry[1] === select.line.value);
  choose((cases.find((entry) => entry[2] === size) || cases[0])[0]);
});
select.size.addEventListener("change", () => choose(select.size.value));
window.addEventListener("hashchange", follow);

/* Theme: the system's until the reader says otherwise. The page's colours change, the charts follow without drawing. */
const theme = document.getElementById("theme");
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

function dark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

function nameTheme() {
  theme.textContent = dark() ? "Light theme" : "Dark theme";
}

theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  nameTheme();
});
systemDark.addEventListener("change", nameTheme);
nameTheme();

window.addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll("details:not([open])")) closed.open = closed.dataset.printed = true;
});
window.addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-printed]")) opened.open = false;
});

/* The explorer first, then everything below it, one chart at a time so that the page answers meanwhile. */
async function start() {
  const maps = document.querySelectorAll("figure[data-plot=winner_map]");
  for (const figure of maps) await draw(figure, figure.dataset.key);
  if (book.cases.length) choose(book.cases[0][0]);
  follow();
  for (const figure of document.querySelectorAll("figure[data-later]")) {
    await draw(figure, figure.dataset.key);
    await new Promise((resume) => setTimeout(resume));
  }
  root.dataset.drawn = "true";
}

start();
