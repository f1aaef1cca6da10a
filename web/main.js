// SPDX-License-Identifier: MIT
// The page: draws one document, aprof.page/1. It formats, sorts and filters, and makes no number.
import { answers } from './ask.js';
import { h } from './dom.js';
import { findings, loops } from './findings.js';
import { flame } from './flame.js';
import { count, percent, place, plural, time } from './format.js';
import { functions } from './functions.js';
import { history } from './history.js';
import { health, lost } from './health.js';
import { live } from './live.js';
import { requests } from './requests.js';
import { serve } from './serve.js';
import { lineId, sources } from './source.js';
import { waits, wakes } from './waits.js';

const SECTIONS = [['findings', 'Findings', findings], ['loops', 'Loops', loops], ['history', 'Over time', history], ['requests', 'Requests', requests],
  ['answers', 'Why slow', answers], ['functions', 'Functions', functions], ['flame', 'Flame graph', flame], ['waits', 'Waits', waits], ['wakes', 'Wakes', wakes],
  ['live', 'Live', live], ['source', 'Source', sources], ['health', 'Health', health]];
const OF_PROFILES = ['findings', 'loops', 'wakes', 'live']; // a recording tells nothing of these
const sectionsOf = (doc) => SECTIONS.filter(([id]) => !(doc.recording && OF_PROFILES.includes(id)) && (id !== 'history' || doc.history) && (id !== 'answers' || doc.recording));

let chosen = null; // the function that was selected last, whatever its index in the next document
const known = (f) => JSON.stringify([f.name, f.file, f.line, f.column]);

/** What the parts of the page share: the document, what is selected, links between parts. */
class Page {
  constructor(doc, chooseKind, ask) {
    this.doc = doc;
    this.ask = ask; // opens the panel of a question; or null
    this.kind = doc.summary.only_kind ?? ''; // of requests; '': all
    this.chooseKind = chooseKind; // or null
    this.hosts = new Set(doc.processes.map((p) => p.host)).size;
    const selected = doc.functions.findIndex((f) => known(f) === chosen);
    this.selected = selected < 0 ? null : selected;
    this.heard = [];
    this.paths = doc.paths.rows.map((row) => {
      const path = Object.fromEntries(doc.paths.columns.map((name, i) => [name, row[i]]));
      const f = doc.functions[path.function];
      path.future = !path.wait && path.name === null; // else a wait, or a part of a future: a create, a span
      if (path.future) Object.assign(path, { name: f.name, place: place(f.file, f.line) });
      path.library = f ? f.library : path.native !== null && path.native !== 'program';
      return path;
    });
    this.files = new Map(doc.sources.filter((file) => file.lines).map((file) => [file.file, new Set(file.lines.map(([n]) => n))]));
  }

  onSelect(hear) {
    this.heard.push(hear);
  }

  select(index) {
    this.selected = index;
    chosen = known(this.doc.functions[index]);
    for (const hear of this.heard) hear();
  }

  /** With its process, where there are several. */
  nameOf(f) {
    const from = this.processOf(f.process);
    return from ? `${f.name} [${from}]` : f.name;
  }

  /** "4242", with its host where there are several; '' where there is one process only. */
  processOf(index) {
    const p = this.doc.processes.length > 1 && index !== null ? this.doc.processes[index] : null;
    return !p ? '' : this.hosts > 1 ? `${p.host} ${p.pid}` : String(p.pid);
  }

  functionLink(index) {
    const f = this.doc.functions[index];
    return f && h('button', { type: 'button', class: 'link', onclick: () => { this.select(index); document.querySelector('.detail').scrollIntoView({ block: 'nearest' }); } }, this.nameOf(f));
  }

  namedLink(g) {
    const index = this.doc.functions.findIndex((f) => f.name === g.function && f.file === g.file && f.line === g.line);
    return index < 0 ? g.function : this.functionLink(index);
  }

  /** "file:line", which leads to the line where it is in the page. */
  placeLink(at) {
    if (!at) return null;
    const [, file, line] = /^(.*):(\d+)$/.exec(at) ?? [];
    if (!this.files.get(file)?.has(Number(line))) return h('span', { class: 'place' }, at);
    return h('button', { type: 'button', class: 'link place', onclick: () => this.showLine(file, line) }, at);
  }

  showLine(file, line) {
    const details = [...document.querySelectorAll('details.file')].find((one) => one.dataset.file === file);
    details.fill();
    details.open = true;
    const row = document.getElementById(lineId(file, line));
    for (const other of document.querySelectorAll('tr.here')) other.classList.remove('here');
    row.classList.add('here');
    row.scrollIntoView({ block: 'center' });
  }

  waker(w) {
    if (w.clock) return 'the clock: it was due';
    return [h('code', null, w.name), w.function && w.function !== w.name ? [' in ', h('code', null, w.function)] : null, ' ', this.placeLink(place(w.file, w.line))];
  }

  /** Its places in the tree, each with the functions above it. */
  pathsOf(f) {
    const index = this.doc.functions.indexOf(f);
    return this.paths.filter((path) => path.function === index && path.future).map((path) => {
      const callers = [];
      for (let at = path.parent; at !== null; at = this.paths[at].parent) callers.unshift(this.paths[at].name);
      return { ...path, callers };
    });
  }
}

// -- head ---------------------------------------------------------------------------------

const prefers = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;
let chosenTheme = null; // by the user; else it is the system's

// The one place that says which colours there are: the style has those of each once.
function setTheme() {
  root.dataset.theme = chosenTheme ?? (prefers.matches ? 'dark' : 'light');
  for (const button of document.querySelectorAll('.theme')) button.textContent = root.dataset.theme === 'dark' ? 'light' : 'dark';
  redraw();
}

function theme() {
  return h('button', {
    type: 'button', class: 'theme', 'aria-label': 'Switch between dark and light',
    onclick: () => {
      chosenTheme = root.dataset.theme === 'dark' ? 'light' : 'dark';
      try { localStorage.setItem('aprof-theme', chosenTheme); } catch { /* from file:// there may be none */ }
      setTheme();
    },
  }, root.dataset.theme === 'dark' ? 'light' : 'dark');
}

// Canvases have their colours drawn in.
function redraw() {
  for (const figure of document.querySelectorAll('figure')) figure.redraw?.();
}

/** What a recording is of. */
function recorded({ recording: r, samples }) {
  return [
    ['recorded', time(r.elapsed_ns)],
    ['requests', `${count(r.requests)}${r.partial ? `, ${count(r.partial)} not whole` : ''}`],
    ...(r.sampled ? [['share kept', `${count(r.sampled.kept)} of ${count(r.sampled.begun)}: ${percent(r.share)}`]] : []),
    ...(r.only ? [['of these', [r.only.kind, r.only.over_ns ? `of ${time(r.only.over_ns)} or more` : ''].filter(Boolean).join(', ')]] : []),
    ['events', count(r.events)],
    ...(samples ? [['samples', `${count(samples.count)}${samples.lost ? `, ${count(samples.lost)} lost` : ''}`]] : []),
    ['lost', `${r.lost ? plural(r.lost, 'event') : 'nothing'}${r.truncated ? '; it was cut off' : ''}`],
  ];
}

function head(doc, interval) {
  const { process: p, summary, health: state } = doc;
  const several = (name) => new Set(doc.processes.map((one) => one[name])).size;
  const called = several('name') > 1 ? `${several('name')} programs` : p.name;
  const on = several('host') > 1 ? `${several('host')} hosts` : p.host;
  const who = doc.processes.length ? `${doc.processes.length} processes` : `pid ${p.pid}${summary.only_loop ? `, loop ${summary.only_loop}` : ''}`;
  const missing = lost(state);
  const whole = p.measured_ns === null || time(p.measured_ns) === time(p.elapsed_ns);
  const length = whole ? time(p.elapsed_ns) : `${time(p.measured_ns)} of ${time(p.elapsed_ns)}`;
  const only = [summary.only_kind, summary.only_tier && `in tier ${summary.only_tier}`].filter(Boolean).join(', ');
  const facts = [
    ...(only ? [['requests', only]] : []),
    ...(summary.left_out ? [['left out', `${plural(summary.left_out, 'process', 'processes')}: too many`]] : []),
    ...(doc.recording ? recorded(doc) : [
      [summary.interval ? interval : 'measured', length],
      ['futures', `${count(summary.created)}, ${count(summary.live)} live`],
      summary.busy === null ? ['loops ran futures', percent(summary.ran)] : ['loop busy', percent(summary.busy)],
      ['longest hold', time(summary.hold_max_ns)],
      ['cost', state.overhead_percent === null ? 'not known' : `${state.event_cost_timed ? '' : 'at least '}${state.overhead_percent.toFixed(1)} %`],
      ['lost', missing.length ? missing.map(([name]) => `${count(state[name])} ${name.replaceAll('_', ' ').replace('lost ', '')}`).join(', ') : 'nothing'],
    ]),
  ];
  document.title = `${called} (${who}) - aprof`;
  return h('header', null,
    h('div', { class: 'title' }, h('h1', null, called, ' ', h('small', null, who, ' on ', on)), theme()),
    h('dl', { class: 'facts head' }, facts.map(([name, text]) => h('div', null, h('dt', null, name), h('dd', null, text)))),
    h('nav', { 'aria-label': 'Parts of the page' }, sectionsOf(doc).map(([id, text]) => h('a', { href: `#${id}` }, text, id === 'findings' ? ` (${doc.findings.length})` : ''))));
}

function keys(event) {
  if (event.target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = { '/': 'filter', s: 'search', g: 'flame-box' }[event.key];
  if (!to) return;
  event.preventDefault();
  document.getElementById(to).focus();
}

const help = () => h('p', { class: 'quiet' }, h('kbd', null, '/'), ' filters functions, ', h('kbd', null, 's'), ' searches the flame graph, ',
  h('kbd', null, 'g'), ' goes to it; arrows go from row to row, and from box to box. ~ lacks something: ',
  'detail was shed. Times are of futures: two that wait at once both wait.');

export function draw(doc, interval = 'between the two', chooseKind = null, ask = null) {
  const page = new Page(doc, chooseKind, ask);
  document.getElementById('page').replaceChildren(head(doc, interval),
    h('main', null, sectionsOf(doc).map(([, , part]) => part(page)), help()));
}

try {
  const kept = localStorage.getItem('aprof-theme');
  if (kept === 'dark' || kept === 'light') chosenTheme = kept;
} catch { /* none from file:// */ }
setTheme();
prefers.addEventListener('change', setTheme);
document.addEventListener('keydown', keys);
const embedded = document.getElementById('document').textContent;
if (embedded.trim()) draw(JSON.parse(embedded));
else serve((doc, chooseKind, ask) => draw(doc, 'in the last', chooseKind, ask));
