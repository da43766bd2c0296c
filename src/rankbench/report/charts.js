/* Charts, tables and maps are made when they come into view; `make` holds how, by what marks the element. */
const make = new Map();
let charts = 0;

const watcher = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) bring(target);
}, { rootMargin: "300px 0px" });

function bring(element) {
  watcher.unobserve(element);
  for (const [mark, how] of make) if (mark in element.dataset) return how(element);
  return undefined;
}

/* Asks for an element to be made, again if it was: a second look begins with what is in view. */
function watch(element) {
  watcher.unobserve(element);
  watcher.observe(element);
}

async function datasets(plot, key) {
  const packed = (await part(plot))[key][3];
  const found = {};
  for (const [name, rows] of Object.entries(packed)) {
    found[name] = typeof rows === "string" ? (await datasets(rows, key))[name] : rowsOf(rows);
  }
  return found;
}

async function described(plot, key, [form, title, subtitle], width) {
  const fit = { width: "container", autosize: { type: "fit-x", contains: "padding" } };
  const forms = await part("forms");
  const share = Math.min(1, Math.max(width, forms[form].usermeta.least_width) / forms[form].width);
  const { layer } = narrowed({ layer: forms[form].layer }, share);
  return { ...forms[form], layer, ...fit, datasets: await datasets(plot, key), description: `${title}. ${subtitle}` };
}

/* A form is as wide as paper: where there is less room, its legend has fewer columns. */
function narrowed(value, part) {
  if (Array.isArray(value)) return value.map((one) => narrowed(one, part));
  if (!value || typeof value !== "object") return value;
  const found = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, narrowed(one, part)]));
  if (found.legend && found.legend.columns) found.legend.columns = Math.max(1, Math.floor(found.legend.columns * part));
  return found;
}

function forget(figure) {
  if (figure.view) figure.view.finalize();
  figure.view = undefined;
}

async function draw(figure) {
  const { plot, key } = figure.dataset;
  if (figure.requested === key) return;
  figure.requested = key;
  const entry = (await part(plot))[key];
  if (figure.dataset.key !== key) return;
  figure.absent = !entry;
  figure.hidden = figure.absent || figure.sifted === true;
  for (const hint of document.querySelectorAll(`[data-of="${plot}"]`)) if (figure.dataset.scope) hint.hidden = !entry;
  for (const hint of document.querySelectorAll(`[data-without="${plot}"]`)) if (figure.dataset.scope) hint.hidden = !!entry;
  forget(figure);
  if (!entry) return drawn(figure);
  const [, title, subtitle] = entry;
  const chart = figure.querySelector(".chart");
  const spec = await described(plot, key, entry, chart.clientWidth);
  figure.querySelector("figcaption").replaceChildren(title, made("small", { textContent: subtitle }));
  chart.style.minWidth = `${spec.usermeta.least_width}px`;
  const result = await vegaEmbed(chart, spec, {
    actions: false, renderer: "svg", config: book.theme, defaultStyle: false,
  });
  if (figure.dataset.key !== key) return;
  figure.view = result.view;
  figure.view.addEventListener("click", (_event, item) => {
    if (item && item.datum && item.datum.key) choose(numberOf.get(item.datum.key));
  });
  root.dataset.charts = charts += 1;
  drawn(figure);
}

function drawn(figure) {
  figure.dataset.drawn = figure.dataset.key;
}

make.set("plot", draw);

/* Gives a figure of the part that shows one case another key. Of what cannot be seen the old picture stays until it is. */
function turn(figure, key) {
  figure.dataset.key = key;
  figure.absent = false;
  figure.hidden = false;
  watch(figure);
}
