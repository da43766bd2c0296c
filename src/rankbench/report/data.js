"use strict";
/* The book shows what every case is and who wins it. All else is packed, and unpacked when it is first asked for. */
const book = JSON.parse(document.getElementById("book").textContent);
const root = document.documentElement;
const { lines, cases } = book;
const loaded = new Promise((resume) => window.addEventListener("load", resume));
const parts = new Map();
document.getElementById("too-old").hidden = "DecompressionStream" in window;

async function unpacked(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function part(name) {
  if (!parts.has(name)) parts.set(name, loaded.then(() => {
    const packed = document.getElementById(`part-${name}`);
    return packed ? unpacked(packed.textContent) : {};
  }));
  return parts.get(name);
}

/* Columns become rows; a column with one value is stored as that value. */
function rowsOf([count, columns]) {
  const known = Object.entries(columns);
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(known.map(([name, values]) => [name, Array.isArray(values) ? values[at] : values.all])));
}

/* The keys of a line's cases differ only in the size. */
const keys = cases.line.map((line, at) => lines.before[line] + cases.bytes[at] + lines.after[line]);
const numberOf = new Map(keys.map((key, number) => [key, number]));
const lineNumber = new Map(lines.key.map((key, number) => [key, number]));
const ofLine = lines.key.map(() => []);
cases.line.forEach((line, number) => ofLine[line].push(number));

function sizeOf(number) {
  return lines.sized[cases.line[number]] ? book.sizes[cases.bytes[number]] : "–";
}

function mapRow(line) {
  return lines.call[line] + lines.rest[line];
}

function nameOf(number) {
  const line = cases.line[number];
  const size = lines.sized[line] ? ` ${sizeOf(number)}` : "";
  return lines.call[line] + size + lines.rest[line] + lines.placed[line];
}

/* A template with its fields filled. */
function say(template, fields = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
}

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
