/* One case: chosen by the address's fragment, so that a link leads to it and Back leads back. */
const select = { line: document.getElementById("pick-line"), size: document.getElementById("pick-size") };
let current = -1;

function show(number) {
  if (number === current || !(number >= 0)) return;
  current = number;
  const line = cases.line[number];
  select.line.value = line;
  select.size.replaceChildren(...ofLine[line].map((one) => new Option(sizeOf(one), one, false, one === number)));
  document.querySelector(".chosen").textContent = describeCase(number);
  showValues(number);
  for (const figure of document.querySelectorAll("#case figure")) turn(figure, figure.dataset.scope === "case" ? keys[number] : lines.key[line]);
}

/* What was decided of a case, and where levels differ at each of them. */
function describeCase(number) {
  const parts = cases.halves[number].map(describeHalf).map((text) => `${text[0].toUpperCase()}${text.slice(1)}.`);
  const stated = cases.halves[number].length > 1 || cases.halves[number][0][0];
  return `${nameOf(number)}${stated ? ". " : ": "}${stated ? parts.join(" ") : `${describeHalf(cases.halves[number][0])}.`}`;
}

async function showValues(number) {
  const place = document.getElementById("case-values");
  const table = (await part("tables")).results?.[resultLines.indexOf(cases.line[number])];
  if (current !== number) return;
  const rows = table ? table[2].filter((row) => row[0][3] === number) : [];
  place.replaceChildren(...(rows.length ? [tableOf("results", table[0], table[1], rows)] : []));
}

function step(by) {
  let number = current + by;
  while (number >= 0 && number < passes.length && !passes[number]) number += by;
  if (number >= 0 && number < passes.length) choose(number);
}

document.getElementById("previous-case").addEventListener("click", () => step(-1));
document.getElementById("next-case").addEventListener("click", () => step(1));

function choose(number) {
  if (!(number >= 0)) return;
  location.hash = written({ ...read(), case: keys[number], at: "" });
}

function goTo(id) {
  const section = document.getElementById(id);
  if (section) section.scrollIntoView({ behavior: "instant" });
}

/* Does what the address says: filters, the case, and where on the page. */
function follow() {
  const state = read();
  if (form) {
    for (const name of FIELDS) {
      const field = form.elements[name];
      if (field.type === "checkbox") field.checked = Boolean(state[name]);
      else field.value = state[name] || "";
      if (field.tagName === "SELECT" && field.selectedIndex < 0) field.value = "";
    }
  }
  apply();
  const number = state.case ? numberOf.get(state.case) : undefined;
  if (number === undefined) delete root.dataset.case;
  else root.dataset.case = state.case;
  if (number !== undefined) show(number);
  if (state.at) goTo(state.at);
  else if (number !== undefined) goTo("case");
}

window.addEventListener("hashchange", follow);

/* Links to cases and sections keep the filters that hold. */
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const finding = link.getAttribute("href").match(/^#(finding-\d+)$/);
  if (finding) {
    const item = document.getElementById(finding[1]);
    for (const part of [item.closest(".alike"), item.querySelector("details")]) if (part) part.open = true;
  }
  const state = read();
  if (link.getAttribute("href").startsWith("#rests=") || !FIELDS.some((name) => state[name])) return;
  event.preventDefault();
  const target = link.getAttribute("href").slice(1);
  if (target.startsWith("case=")) choose(numberOf.get(target.slice("case=".length)));
  else {
    history.replaceState(null, "", `#${written({ ...state, at: target })}`);
    goTo(target);
  }
});

select.line.addEventListener("change", () => {
  const size = select.size.selectedOptions[0].text;
  const own = ofLine[select.line.value];
  choose(own.find((number) => sizeOf(number) === size) ?? own[0]);
});
select.size.addEventListener("change", () => choose(Number(select.size.value)));

for (const sizes of document.querySelectorAll("select[data-scale]")) {
  sizes.addEventListener("change", () => {
    sizes.wanted = sizes.value;
    turnAll(sizes, sizes.value);
  });
}

/* Theme: the system's until the reader says otherwise. The page's colours change, the charts follow without drawing. */
const theme = document.getElementById("theme");
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

function dark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

function nameTheme() {
  theme.textContent = dark() ? say("Light theme") : say("Dark theme");
}

theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  nameTheme();
});
systemDark.addEventListener("change", nameTheme);
nameTheme();

/* Paper has what passes the filters, whether it was looked at or not; of very much, as much as anybody prints. */
const MOST_ON_PAPER = 60;

function cut(elements, container, more) {
  const shown = [...elements].filter((element) => !element.closest("[hidden]"));
  const note = container && container.querySelector(".left-out");
  if (note) {
    note.hidden = shown.length <= MOST_ON_PAPER;
    note.textContent = more(shown.length - MOST_ON_PAPER);
  }
  return shown.slice(0, MOST_ON_PAPER);
}

function moreTables(n) {
  return say("{n} more tables pass the filters and are not printed.", { n });
}

function moreCurves(n) {
  return say("{n} more curves pass the filters and are not printed.", { n });
}

function printed() {
  for (const section of document.querySelectorAll("main section")) {
    const closed = cut(section.querySelectorAll("details"), section, moreTables).filter((one) => !one.open);
    for (const one of closed) one.open = one.dataset.printed = true;
    for (const one of section.querySelectorAll("details[open][data-table]")) fill(one);
    for (const figure of cut(section.querySelectorAll("figure"), section.id === "curves" ? section : null, moreCurves)) bring(figure);
  }
}

window.addEventListener("beforeprint", printed);
window.addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-printed]")) {
    opened.open = false;
    delete opened.dataset.printed;
  }
});

/* The map first; what is packed is unpacked while the reader reads. */
async function start() {
  offer();
  follow();
  const map = document.querySelector("figure[data-map]:not([hidden])");
  if (map) bring(map);
  requestAnimationFrame(() => setTimeout(() => {
    performance.mark("opened");
    root.dataset.opened = "true";
  }));
  if (current < 0 && cases.line.length) show(0);
  for (const element of document.querySelectorAll("figure[data-plot][data-key]:not([data-key='']), details[data-table][open]")) watch(element);
  await loaded;
  for (const packed of document.querySelectorAll("script[id^=part-]")) {
    await part(packed.id.slice("part-".length));
    await new Promise((resume) => setTimeout(resume));
  }
  root.dataset.ready = "true";
}

start();
