// SPDX-License-Identifier: MIT
// The page as `aprof serve` has it: of the host, process, range and kind that are chosen, drawn again as it moves.
import { ask, askPanel, close as endAsking } from './ask.js';
import { choice, h } from './dom.js';
import { plural, time } from './format.js';

const RANGES = [['10s', '10 s'], ['1m', '1 min'], ['10m', '10 min'], ['30m', '30 min'], ['3h', '3 h'], ['start', 'since start']];
const REST = 2000; // ms that a page stays as it is after a hand was on it
const AGAIN = 5000; // ms between looks for processes

const asked = new URLSearchParams(location.search);
const state = {
  host: asked.get('host') ?? '', // '': all
  pid: /^[1-9]\d*$/.test(asked.get('pid') ?? '') ? Number(asked.get('pid')) : null, // null: all of the host
  chosen: asked.has('pid') || asked.has('host') || asked.has('range'),
  by: asked.get('by') === 'process' ? 'process' : 'function',
  kind: asked.get('kind') ?? '', // of requests; '': all
  only: asked.get('where') ?? '', // a label of hosts, or a build, as KEY=VALUE; '': all
  range: RANGES.some(([name]) => name === asked.get('range')) ? asked.get('range') : '10s',
  frozen: false,
};
let draw = null;
let source = null; // of events
let sources = new Map(); // lines of files, which only the first document has
let waiting = null; // a document that comes while the page rests
let touched = 0;

const said = h('span', { class: 'quiet', role: 'status' });
const host = h('select', { id: 'host', onchange: () => choose({ host: host.value, pid: null }) });
const only = h('select', { id: 'only', onchange: () => choose({ only: only.value }) });
const onlyBox = h('label', { hidden: true }, 'Only ', only);
const box = h('select', { id: 'process', onchange: () => choose(box.value ? JSON.parse(box.value) : { pid: null }) });
const kind = h('select', { id: 'kind', onchange: () => choose({ kind: kind.value }) });
const by = choice('Functions', [['function', 'summed'], ['process', 'by process']], state.by, (value) => choose({ by: value }));
const hosts = h('ul', { class: 'hosts', 'aria-label': 'Hosts' });
const hostBox = h('label', { hidden: true }, 'Host ', host);
const kindBox = h('label', { hidden: true }, 'Kind ', kind);
const freeze = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => setFrozen(!state.frozen) }, 'freeze');
const bar = h('div', { class: 'tools serve', role: 'region', 'aria-label': 'What is shown' },
  hostBox, onlyBox, h('label', null, 'Process ', box),
  choice('Over the last', RANGES, state.range, (range) => choose({ range })),
  kindBox, by, freeze, said, hosts);

function choose(what) {
  if ('pid' in what || 'host' in what) endAsking();
  Object.assign(state, what, { chosen: true });
  if (what.host !== undefined && host.value !== state.host) host.value = state.host;
  by.hidden = state.pid !== null;
  open();
  if (what.host !== undefined) list();
}

function setFrozen(frozen) {
  state.frozen = frozen;
  freeze.setAttribute('aria-pressed', String(frozen));
  freeze.textContent = frozen ? 'go on' : 'freeze';
  if (!frozen) show();
  tell(frozen ? 'It stands still.' : '');
}

const tell = (text) => { if (said.textContent !== text) said.textContent = text; };
/** What the server is asked for. */
const where = () => new URLSearchParams([
  ...(state.host ? [['host', state.host]] : []), ...(state.pid === null ? [] : [['pid', state.pid]]), ['range', state.range],
  ...(state.pid === null && state.by === 'process' ? [['by', 'process']] : []),
  ...(state.kind ? [['kind', state.kind]] : []), ...(state.only ? [['where', state.only]] : [])]).toString();
const remember = () => history.replaceState(null, '', `?${where()}`);

// -- drawing again ------------------------------------------------------------------------

const rests = () => state.frozen || Date.now() - touched < REST || String(getSelection()) !== '';

/** What a hand has done to the page, which a new drawing would undo. */
function keep() {
  const name = (details) => details.dataset.file ?? details.querySelector('summary').textContent;
  const page = document.getElementById('page');
  const open = new Set([...page.querySelectorAll('details[open]')].map(name));
  const focused = page.contains(document.activeElement) ? document.activeElement : null;
  const like = focused && ((e) => e.tagName === focused.tagName && e.textContent === focused.textContent && e.ariaLabel === focused.ariaLabel);
  const [x, y] = [scrollX, scrollY];
  const sides = [...page.querySelectorAll('.scroll')].map((e) => e.scrollLeft);
  return () => {
    for (const details of page.querySelectorAll('details')) details.open ||= open.has(name(details));
    [...page.querySelectorAll('.scroll')].forEach((e, i) => { e.scrollLeft = sides[i] ?? 0; });
    const again = focused && ((focused.id && document.getElementById(focused.id)) || [...page.querySelectorAll(focused.tagName)].find(like));
    again?.focus({ preventScroll: true });
    scrollTo(x, y);
  };
}

function setOptions(select, options, value) {
  const text = options.map(([, name]) => name).join('\n');
  if (text !== [...select.options].map((o) => o.textContent).join('\n'))
    select.replaceChildren(...options.map(([one, name]) => h('option', { value: one }, name)));
  select.value = value;
}

/** Kinds of requests, where the document has any. */
function setKinds(doc) {
  const kinds = [...new Set((doc.requests ?? []).map((one) => one.kind))];
  kindBox.hidden = !kinds.length && !state.kind;
  if (state.kind && !kinds.includes(state.kind)) kinds.push(state.kind);
  if (kinds.length || state.kind) setOptions(kind, [['', 'all'], ...kinds.map((name) => [name, name])], state.kind);
}

function show() {
  if (!waiting || rests()) return;
  const doc = waiting;
  waiting = null;
  setKinds(doc);
  for (const file of doc.sources) {
    const known = sources.get(file.file);
    if (known && !file.lines) Object.assign(file, { lines: known.lines, readable: known.readable, newer: known.newer });
  }
  const restore = keep();
  // Of one live process of the server's own machine; of others their own server knows.
  const asks = doc.target !== null && doc.summary.alive;
  draw(doc, (name) => choose({ kind: name }), asks ? (what) => ask({ ...what, pid: doc.process.pid, host: state.host }) : null);
  restore();
  if (doc.summary.alive) tell(doc.summary.stopped ? 'The process is stopped.' : '');
}

// -- what comes ---------------------------------------------------------------------------

async function fetched(path) {
  const answer = await fetch(path);
  if (answer.status === 401) location.reload(); // a form for the token
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function close() {
  source?.close();
  source = null;
}

function listen() {
  source = new EventSource(`/api/events?${where()}`);
  const mine = source;
  source.addEventListener('document', (event) => { waiting = JSON.parse(event.data); show(); });
  source.addEventListener('ended', () => { mine.close(); tell('The process has ended: this is how it did.'); });
  source.onerror = () => { tell(mine.readyState === EventSource.CLOSED ? 'What was shown is gone.' : 'The server does not answer.'); };
}

async function open() {
  close();
  if (!state.chosen) return;
  const wanted = where();
  remember();
  try {
    const doc = await fetched(`/api/page?${wanted}`);
    if (wanted !== where()) return;
    sources = new Map(doc.sources.filter((file) => file.lines).map((file) => [file.file, file]));
    touched = 0;
    waiting = doc;
    tell('');
    show();
    if (!document.hidden) listen();
  } catch (fault) {
    tell(fault instanceof TypeError ? 'The server does not answer.' : fault.message);
  }
}

/** Of other servers: what each is at, and whether its numbers are in. */
function showHosts(all) {
  const old = (one) => (one.age_ns === null ? '' : `, ${time(one.age_ns)} old`);
  hosts.replaceChildren(...all.map((one) => h('li', { class: one.state === 'answers' ? null : 'alarm', title: one.url },
    h('strong', null, one.name), one.state === 'answers' ? ` ${plural(one.processes, 'process', 'processes')}${one.left_out ? `, ${one.left_out} without room` : ''}${one.age_ns > 10e9 ? old(one) : ''}`
      : ` ${one.state}${one.says ? `: ${one.says}` : ''}${old(one)}${one.counted ? '' : ', not counted'}`)));
}

/** What tells hosts and processes apart, where anything does. */
function showOnly(profiles) {
  const labels = new Set(profiles.flatMap((one) => one.labels?.split(',') ?? []));
  const builds = new Set(profiles.filter((one) => one.build_id).map((one) => `build=${one.build_id}`));
  const all = [...labels].sort().concat(builds.size > 1 ? [...builds].sort() : []);
  if (state.only && !all.includes(state.only)) all.push(state.only);
  onlyBox.hidden = !all.length;
  setOptions(only, [['', 'all'], ...all.map((one) => [one, one.replace(/^(build=.{12}).*/, '$1')])], state.only);
}

/** A first look shows the only process, or all of them. */
function first(profiles) {
  if (state.chosen || !profiles.length) return;
  choose({ pid: profiles.length === 1 ? profiles[0].pid : null });
}

async function list() {
  if (document.hidden) return;
  try {
    const answer = await fetched('/api/processes');
    const { profiles } = answer;
    first(profiles);
    const names = [...new Set([...(answer.hosts ?? []).map((one) => one.name), ...profiles.map((one) => one.host)])].sort();
    if (state.host && !names.includes(state.host)) names.push(state.host);
    hostBox.hidden = names.length < 2;
    setOptions(host, [['', 'all'], ...names.map((name) => [name, name])], state.host);
    showOnly(profiles);
    const here = profiles.filter((one) => !state.host || one.host === state.host);
    const key = (one) => JSON.stringify(names.length > 1 ? { host: one.host, pid: one.pid } : { pid: one.pid });
    if (state.pid !== null && !here.some((one) => one.pid === state.pid)) here.push({ pid: state.pid, name: 'gone', host: state.host });
    const several = names.length > 1 && !state.host;
    const chosen = here.find((one) => one.pid === state.pid);
    setOptions(box, [['', 'all'], ...here.map((one) => [key(one), `${one.name} ${one.pid}${several ? ` on ${one.host}` : ''}`])], chosen ? key(chosen) : '');
    by.hidden = state.pid !== null;
    showHosts(answer.hosts ?? []);
    if (!profiles.length && !answer.hosts) tell('No live process is profiled. It comes as soon as one is: aprof run -- PROGRAM');
  } catch {
    tell('The server does not answer.');
  }
}

/** Draws documents as they come from the server that the page is from. */
export function serve(how) {
  draw = how;
  document.getElementById('page').before(bar, askPanel());
  for (const kind of ['pointerdown', 'keydown', 'input']) document.addEventListener(kind, (event) => { if (!bar.contains(event.target)) touched = Date.now(); });
  // Who has gone into the flame graph wants to look at it.
  document.addEventListener('click', (event) => { if (event.target.closest?.('#flame-box')) setFrozen(true); });
  document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else { list(); open(); } });
  setInterval(show, 500);
  setInterval(list, AGAIN);
  by.hidden = state.pid !== null;
  if (state.chosen) open();
  list();
}
