/* Filters work together on cases; an element of lines or cases is shown where one of its cases passes. */
const form = document.getElementById("filters");
const CALLED = {
  placement: say("placement"),
  kind: say("kind"),
  text: say("text"),
  candidate: say("candidate"),
  from: say("from"),
  to: say("to"),
  differ: say("differ"),
  rests: say("evidence of sentence"),
};
const FIELDS = Object.keys(CALLED);
const passes = new Uint8Array(cases.line.length).fill(1);
const linePasses = new Uint8Array(lines.key.length).fill(1);
const resultLines = ofLine.flatMap((_, line) => (document.querySelector(`#curves [data-line="${CSS.escape(lines.key[line])}"]`) ? [line] : []));

/* The address's fragment is `case=KEY&placement=socket`, or the name of a section. */
function read() {
  const fragment = location.hash.slice(1);
  if (!fragment.includes("=")) return { at: decodeURIComponent(fragment) };
  const pairs = fragment.split("&").map((pair) => {
    const [, name, value] = /^([^=]*)=?(.*)$/.exec(pair);
    return [name, decodeURIComponent(value)];
  });
  return Object.fromEntries(pairs);
}

function written(state) {
  const fields = Object.entries(state).filter(([name, value]) => value && name !== "at");
  const text = fields.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%3D", "=")}`).join("&");
  if (!state.at) return text;
  return text ? `${text}&at=${encodeURIComponent(state.at)}` : state.at;
}

function chosenFilters() {
  if (!form) return {};
  return Object.fromEntries(FIELDS.map((name) => {
    const field = form.elements[name];
    return [name, field.type === "checkbox" ? (field.checked ? field.value : "") : field.value];
  }));
}

function option(text, value) {
  return made("option", { textContent: text, value });
}

/* A filter that has nothing to choose from is not shown. */
function offer() {
  if (!form) return;
  const used = new Set(lines.placement.map((number) => book.placements[number]));
  const kinds = new Set(lines.kind);
  const sizes = [...new Set(cases.bytes.filter((_, number) => lines.sized[cases.line[number]]))].sort((one, two) => one - two);
  const { elements } = form;
  elements.placement.append(...book.placements.filter((name) => used.has(name)).map((name) => option(name, name)));
  elements.kind.append(...[...kinds].sort().map((name) => option(book.kinds[name], name)));
  for (const name of ["from", "to"]) elements[name].append(...sizes.map((bytes) => option(book.sizes[bytes], bytes)));
  elements.candidate.append(
    made("optgroup", { label: say("is fastest") }, ...book.candidates.map((name) => option(name, name))),
    made("optgroup", { label: say("is beaten") }, ...book.candidates.map((name) => option(say("not {name}", { name }), `!${name}`))));
  const few = { placement: used.size < 2, kind: kinds.size < 2, size: sizes.length < 2 };
  for (const [name, hidden] of Object.entries(few)) form.querySelector(`[data-filter=${name}]`).hidden = hidden;
  form.hidden = false;
}

function sift() {
  const { placement, kind, text, candidate, from, to, differ, rests } = chosenFilters();
  const evidence = rests ? new Set(words(form.elements.rests.selectedOptions[0].dataset.cases).map(Number)) : undefined;
  const wanted = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
  const ofLines = lines.key.map((_, line) => {
    const name = mapRow(line).toLowerCase();
    return (!placement || book.placements[lines.placement[line]] === placement) && (!kind || lines.kind[line] === kind)
      && wanted.every((word) => name.includes(word));
  });
  const beaten = candidate && candidate.startsWith("!");
  const who = candidate ? book.candidates.indexOf(beaten ? candidate.slice(1) : candidate) : -1;
  linePasses.fill(0);
  for (let number = 0; number < passes.length; number += 1) {
    const line = cases.line[number];
    const bytes = lines.sized[line] ? cases.bytes[number] : NaN;
    passes[number] = (!evidence || evidence.has(number)) && ofLines[line] && (!from || bytes >= from) && (!to || bytes <= to)
      && (!differ || cases.different[number]) && (who < 0 || cases.winners[number].includes(who) !== beaten);
    if (passes[number]) linePasses[line] = 1;
  }
}

function shownIf(elements, test) {
  let shown = 0;
  for (const element of elements) {
    element.sifted = !test(element);
    element.hidden = element.sifted || element.absent === true;
    shown += !element.sifted;
  }
  return shown;
}

function lineShown(key) {
  return linePasses[lineNumber.get(key)] === 1;
}

/* What is made of no case at all is always shown. */
function anyPasses(numbers) {
  return !numbers.length || numbers.some((number) => passes[number]);
}

function restsOn(element) {
  element.rests ??= words(element.dataset.rests.trim());
  return anyPasses(element.rests);
}

/* Sections with tables and figures of several cases each. */
function siftSections() {
  const sections = new Set([...document.querySelectorAll("[data-rests]")].map((element) => element.closest("section")));
  for (const section of sections) {
    nothing(section.id, shownIf(section.querySelectorAll("[data-rests]"), restsOn));
    for (const folded of section.querySelectorAll("details[data-table]")) siftRows(folded);
    for (const sizes of section.querySelectorAll("select[data-scale]")) offerSizes(sizes);
  }
}

/* The size that the reader chose is shown, or the first one that passes. */
function offerSizes(sizes) {
  sizes.wanted ??= sizes.value;
  const left = [...sizes.options].filter((one) => !one.hidden);
  const shown = left.find((one) => one.value === sizes.wanted) ?? left[0];
  for (const one of sizes.options) one.disabled = one.hidden;
  if (shown && shown.value !== sizes.value) turnAll(sizes, shown.value);
}

function turnAll(sizes, key) {
  sizes.value = key;
  for (const figure of sizes.closest(".scale").querySelectorAll("figure")) turn(figure, key);
}

function nothing(section, shown) {
  const note = document.querySelector(`#${section} .nothing`);
  if (note) note.hidden = shown > 0;
}

function words(text) {
  return text ? text.split(" ") : [];
}

/* Hides what does not pass and shows how much is left. */
function apply() {
  sift();
  const shownMaps = shownIf(document.querySelectorAll("figure[data-map]"), (figure) =>
    lines.key.some((_, line) => linePasses[line] && book.placements[lines.placement[line]] === figure.dataset.map));
  nothing("map", shownMaps);
  for (const figure of document.querySelectorAll("figure[data-map]")) (figure.querySelector("table") ? bring : watch)(figure);
  const all = document.querySelectorAll(".findings > li");
  const findings = shownIf(all, (finding) => {
    const rests = words(finding.dataset.cases);
    return !rests.length || rests.some((key) => passes[numberOf.get(key)]);
  });
  nothing("findings", findings);
  shownIf(document.querySelectorAll(".group"), (group) => words(group.dataset.lines).some(lineShown));
  shownIf(document.querySelectorAll("[data-member]"), (link) => lineShown(link.dataset.member));
  shownIf(document.querySelectorAll(".members"), (list) => list.querySelector("a:not([hidden])"));
  const curves = shownIf(document.querySelectorAll("#curves figure"), (figure) => lineShown(figure.dataset.line));
  nothing("curves", curves);
  const folded = document.querySelectorAll("details[data-table=results]");
  nothing("tables", shownIf(folded, (one) => linePasses[resultLines[one.dataset.number]]));
  for (const one of folded) siftRows(one);
  const left = [...folded].filter((one) => !one.hidden);
  if (left.length === 1) left[0].open = true;
  siftSections();
  showCounts(findings, all.length);
}

function showCounts(findings, all) {
  if (!form) return;
  const shown = passes.reduce((sum, one) => sum + one, 0);
  const operations = linePasses.reduce((sum, one) => sum + one, 0);
  const counts = { shown, cases: passes.length, operations, lines: lines.key.length, findings, all };
  document.getElementById("count").textContent = all
    ? say("{shown} of {cases} cases, {operations} of {lines} operations, {findings} of {all} findings", counts)
    : say("{shown} of {cases} cases, {operations} of {lines} operations", counts);
  const chosen = Object.entries(chosenFilters()).filter(([, value]) => value)
    .map(([name, value]) => `${CALLED[name]}: ${name === "kind" ? book.kinds[value] : value}`);
  form.querySelector("[data-filter=rests]").hidden = !chosenFilters().rests;
  if (chosen.length) unfold(true);
  const sifted = document.getElementById("sifted");
  sifted.hidden = !chosen.length;
  sifted.textContent = say("Only a part of the campaign ({chosen}): {shown} of {cases} cases.", { ...counts, chosen: chosen.join(", ") });
}

/* Phones show filters on request, and where some hold. */
function unfold(open) {
  form.classList.toggle("open", open);
  document.getElementById("unfold").setAttribute("aria-expanded", String(open));
}

if (form) {
  let waiting = 0;
  document.getElementById("unfold").addEventListener("click", () => unfold(!form.classList.contains("open")));
  const changed = () => {
    history.replaceState(null, "", `#${written({ ...read(), ...chosenFilters(), at: "" })}`);
    apply();
  };
  const later = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, event.target.name === "text" ? 150 : 0);
  };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  form.addEventListener("reset", () => setTimeout(changed));
  form.addEventListener("submit", (event) => event.preventDefault());
}
