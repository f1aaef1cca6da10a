// SPDX-License-Identifier: MIT
// The page as `aprof serve` has it: of a process that is chosen, over a range, drawn again as it moves.
import { choice, h } from './dom.js';

const RANGES = [['10s', '10 s'], ['1m', '1 min'], ['10m', '10 min'], ['30m', '30 min'], ['3h', '3 h'], ['start', 'since start']];
const REST = 2000; // ms that a page stays as it is after a hand was on it
const AGAIN = 5000; // ms between looks for processes

const asked = new URLSearchParams(location.search);
const state = {
  pid: /^[1-9]\d*$/.test(asked.get('pid') ?? '') ? Number(asked.get('pid')) : null,
  range: RANGES.some(([name]) => name === asked.get('range')) ? asked.get('range') : '10s',
  frozen: false,
};
let draw = null;
let source = null; // of events
let sources = new Map(); // lines of files, which only the first document has
let waiting = null; // a document that comes while the page rests
let touched = 0;

const said = h('span', { class: 'quiet', role: 'status' });
const box = h('select', { id: 'process', onchange: () => { state.pid = Number(box.value); open(); } });
const freeze = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => setFrozen(!state.frozen) }, 'freeze');
const bar = h('div', { class: 'tools serve', role: 'region', 'aria-label': 'What is shown' },
  h('label', null, 'Process ', box),
  choice('Over the last', RANGES, state.range, (range) => { state.range = range; open(); }),
  freeze, said);

function setFrozen(frozen) {
  state.frozen = frozen;
  freeze.setAttribute('aria-pressed', String(frozen));
  freeze.textContent = frozen ? 'go on' : 'freeze';
  if (!frozen) show();
  tell(frozen ? 'It stands still.' : '');
}

const tell = (text) => { if (said.textContent !== text) said.textContent = text; };
const where = () => `pid=${state.pid}&range=${state.range}`;

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

function show() {
  if (!waiting || rests()) return;
  const doc = waiting;
  waiting = null;
  for (const file of doc.sources) {
    const known = sources.get(file.file);
    if (known && !file.lines) Object.assign(file, { lines: known.lines, readable: known.readable, newer: known.newer });
  }
  const restore = keep();
  draw(doc);
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
  source.onerror = () => { tell(mine.readyState === EventSource.CLOSED ? 'The process is gone.' : 'The server does not answer.'); };
}

async function open() {
  close();
  if (state.pid === null) return;
  const wanted = where();
  history.replaceState(null, '', `?${wanted}`);
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

async function list() {
  if (document.hidden) return;
  try {
    const { profiles } = await fetched('/api/processes');
    const pids = profiles.map((one) => one.pid);
    const first = state.pid === null && pids.length > 0;
    if (first) [state.pid] = pids;
    if (state.pid !== null && !pids.includes(state.pid)) profiles.push({ pid: state.pid, name: 'gone' });
    const text = ({ name, pid }) => `${name} ${pid}`;
    if (profiles.map(text).join('\n') !== [...box.options].map((o) => o.textContent).join('\n'))
      box.replaceChildren(...profiles.map((one) => h('option', { value: one.pid }, text(one))));
    box.value = String(state.pid ?? '');
    if (first) open();
    else if (!pids.length) tell('No live process is profiled. It comes as soon as one is: aprof run -- PROGRAM');
  } catch {
    tell('The server does not answer.');
  }
}

/** Draws documents as they come from the server that the page is from. */
export function serve(how) {
  draw = how;
  document.getElementById('page').before(bar);
  for (const kind of ['pointerdown', 'keydown', 'input']) document.addEventListener(kind, (event) => { if (!bar.contains(event.target)) touched = Date.now(); });
  // Who has gone into the flame graph wants to look at it.
  document.addEventListener('click', (event) => { if (event.target.closest?.('#flame-box')) setFrozen(true); });
  document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else { list(); open(); } });
  setInterval(show, 500);
  setInterval(list, AGAIN);
  if (state.pid !== null) open();
  list();
}
