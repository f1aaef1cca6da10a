// SPDX-License-Identifier: MIT
// Why requests of a live process are slow: a panel that asks its server each second, which records the process meanwhile.
import { choice, h, scroll, section, sentence } from './dom.js';
import { count, percent, plural, time } from './format.js';

const QUESTIONS = [['tail', 'why the slowest are slow'], ['blame', 'who made them late'], ['paths', 'each laid out in time'], ['path', 'what all of them spend it on']];
const OF_FUNCTION = [['cpu', 'sample it: where its processor time goes'], ['probe', 'probe it: how often, called by whom']];
const EACH = 1000; // ms between questions
const ROWS = 12; // of an answer's table

let open = null; // { pid, host, kind, function, question, on }: what is asked; null: nothing is
const panel = h('section', { class: 'asked', hidden: true, 'aria-labelledby': 'asked-title' });
const title = h('h2', { id: 'asked-title', tabindex: -1 });
const cost = h('p', { class: 'quiet cost', role: 'status' });
const answer = h('div', { class: 'answer' });

const stop = h('button', { type: 'button', onclick: () => close() }, 'end it');
const again = h('button', { type: 'button', hidden: true, onclick: () => ask(open) }, 'try again');

// -- answers --------------------------------------------------------------------------------

const at = (row) => (row.at ? h('span', { class: 'place', title: row.at }, ` ${row.at.replace(/^.*\//, '')}`) : null);
/** The first of them, and how many there are more. */
const tableOf = (label, heads, all, show, most = ROWS) => [rowsOf(label, heads, all.slice(0, most).map(show)),
  all.length > most ? h('p', { class: 'quiet' }, `and ${plural(all.length - most, 'row')} more`) : []];
const rowsOf = (label, heads, rows) => scroll(label, h('table', { class: 'plain' },
  h('thead', null, h('tr', null, heads.map(([text, words]) => h('th', { scope: 'col', class: words ? 'text' : null }, text)))),
  h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, i) =>
    (i ? h('td', { class: heads[i][1] ? 'text' : null }, cell) : h('th', { scope: 'row', class: 'text' }, cell))))))));
const change = (ns) => (ns < 0 ? `-${time(-ns)}` : `+${time(ns)}`);

/** "waiting in pool_get db.c:77", "queued behind save_upload". */
const rowName = (row) => [row.what, ' ', row.behind ? 'behind ' : '', row.by ?? (row.name ? h('code', null, row.name) : ''), at(row)];

// Of each: what it is about, and what there is of that.
const drawn = {
  tail: ({ kinds }) => kinds.map((k) => ({
    head: sentence(k.cause?.text ?? `${k.kind}: the slow ones differ in nothing`),
    body: [
      h('p', { class: 'quiet' }, `${count(k.slow)} slow ones${k.threshold_ns === null ? '' : `, of ${time(k.threshold_ns)} or more`}, and ${count(k.others)} others. Means of a request:`),
      tableOf(`What differs in ${k.kind}`, [['What', true], ['Others'], ['Slow'], ['More']],
        k.rows, (row) => [rowName(row), time(row.others.mean_ns), time(row.slow.mean_ns), change(row.more_ns)])],
  })),
  blame: (doc) => [{
    head: `${time(doc.queued_ns)} queued, in ${count(doc.queued_count)} stretches${doc.polled_ns ? `; at least ${time(doc.polled_ns)} between poller and callback` : ''}`,
    body: tableOf('Who held the loop meanwhile', [['Behind', true], ['Queued'], ['At the poller'], ['Times'], ['Longest run'], ['Made late', true]],
      doc.behind, (row) => [
        [row.function ? h('code', null, row.function) : row.by, at(row)], time(row.time_ns), time(row.polled_ns), count(row.count), time(row.longest_ns),
        row.delayed.slice(0, 3).map((one) => `${one.function} ${time(one.time_ns)}`).join(', ')]),
  }],
  paths: ({ slowest }) => slowest.map((one) => ({
    head: [one.kind, ' ', time(one.wall_ns)],
    body: [
      h('p', { class: 'quiet' }, `${time(one.queued_ns)} queued, ${time(one.running_ns)} running, ${time(one.waiting_ns)} waiting; began ${new Date(one.began_at_ns / 1e6).toISOString().slice(11, 23)} UTC`,
        one.trace ? [', trace ', h('code', null, one.trace)] : null, one.failed ? ', failed' : ''),
      timeLine(one),
      tableOf(`${one.kind} of ${time(one.wall_ns)}, in time`, [['What', true], ['From'], ['For']],
        one.path, (piece) => [[pieceName(piece), piece.tier ? ` [${piece.tier}]` : ''], time(piece.at_ns), time(piece.time_ns)], Infinity)],
  })),
  cpu: (doc) => [{
    head: `${time(doc.cpu_ns)} on a processor, by ${plural(Math.round(doc.cpu_ns / doc.samples.each_ns), 'sample')}`,
    body: [
      tableOf('Where processor time goes', [['Function', true], ['All'], ['Own'], ['Time']],
        doc.rows, (row) => [cpuName(row), percent(row.cpu_ns / doc.cpu_ns), row.self_ns ? percent(row.self_ns / doc.cpu_ns) : '-', time(row.cpu_ns)], 4 * ROWS),
      h('p', { class: 'quiet' }, doc.samples.unknown ? `${percent(doc.samples.unknown / doc.samples.frames)} of native frames have no name. ` : '',
        doc.samples.lost ? `${count(doc.samples.lost)} samples were lost. ` : '', doc.samples.user_only ? 'The kernel lets only user space be sampled.' : '')],
  }],
  path: ({ kinds }) => kinds.map((k) => ({
    head: `${k.kind}: ${plural(k.requests, 'request')}, p50 ${time(k.p50_ns)}, p95 ${time(k.p95_ns)}, p99 ${time(k.p99_ns)}`,
    body: tableOf(`What the wall of ${k.kind} is`, [['What', true], ['Time'], ['Of wall'], ['Times'], ['Requests']],
      k.rows, (row) => [rowName(row), time(row.time_ns), percent(k.wall_ns ? row.time_ns / k.wall_ns : null), count(row.times), count(row.requests)]),
  })),
};

function cpuName(row) {
  const name = h('span', { class: 'beneath' }, row.depth ? '└ ' : '', h('code', null, row.name), at(row), row.native && row.native !== 'program' && row.native !== 'kernel' ? ` (${row.native})` : '');
  name.style.paddingInlineStart = `${Math.min(row.depth, 12) * 0.9}rem`;
  return name;
}

const pieceName = (piece) => [piece.what, ' ',
  piece.behind?.length ? [piece.behind[0].function ? ['behind ', h('code', null, piece.behind[0].function)] : piece.behind[0].by, piece.behind.length > 1 ? ` and ${piece.behind.length - 1} more` : '']
    : [piece.name ? h('code', null, piece.name) : '', at(piece)]];

/** All of its wall, from left to right; what the pieces are stands in the table below. */
const timeLine = (one) => h('div', { class: 'states line', 'aria-hidden': 'true' }, one.path.map((piece) => {
  const part = h('span', { class: piece.what === 'not seen' ? null : piece.what, title: `${piece.what} ${time(piece.time_ns)}` });
  part.style.flexGrow = String(piece.time_ns);
  return part;
}));

const source = ({ recording: r }) => h('p', { class: 'quiet' }, `Of the last ${time(r.elapsed_ns)}: ${count(r.requests)} requests`,
  r.partial ? `, ${count(r.partial)} of them not whole and left out` : '', `; ${count(r.events)} events, ${r.lost ? `${count(r.lost)} lost` : 'none lost'}.`);

// -- asking ---------------------------------------------------------------------------------

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
const where = ({ pid, host }, more = {}) => new URLSearchParams([['pid', pid], ...(host ? [['host', host]] : []), ...Object.entries(more).filter(([, value]) => value)]);
/** What of the question the server has to know. */
const aboutOf = ({ kind, function: name, question }) => (question === 'probe' ? { function: name } : question === 'cpu' ? { kind, function: name } : { kind });
/** What has to go on for it. */
const way = (mine) => (mine.question === 'probe' ? `/api/probe?${where(mine, aboutOf(mine))}` : `/api/${mine.question === 'cpu' ? 'cpu' : 'record'}?${where(mine)}`);
const HELD = 3000; // ms; the server's lease is 4 s
const WATCHES = 'watching: each hit takes its thread some microseconds; 10 000 a second end it';

function say(text, over) {
  answer.replaceChildren(h('p', { class: over ? 'alarm' : 'quiet' }, text));
  if (over) cost.textContent = '';
  again.hidden = !over;
}

/** False where there will be no answer. */
async function round(mine) {
  // A page that stood still, as where a lid was closed, has it on no more: to ask would be refused.
  if (Date.now() - mine.asked > HELD) mine.on = false;
  mine.asked = Date.now();
  if (!mine.on) {
    const begun = await fetch(way(mine), { method: 'POST' });
    if (begun.status === 401) location.reload();
    if (!begun.ok) throw new Error((await begun.text()).trim());
    mine.on = true;
  }
  const probes = mine.question === 'probe';
  const [came, price] = await Promise.all([fetch(`/api/${mine.question}?${where(mine, aboutOf(mine))}`), probes ? null : fetch(`/api/record?${where(mine)}`)]);
  if (mine !== open) return;
  if (probes) cost.textContent = WATCHES;
  else if (price.ok) cost.textContent = (await price.text()).trim();
  if (came.status === 202) say(`${(await came.text()).trim()}. It is asked again.`, false);
  else if (came.status === 409 && mine.answered) Object.assign(mine, { on: false, answered: false }); // it was over: once more
  else if (!came.ok) throw new Error((await came.text()).trim());
  else if (probes) {
    const text = await came.text();
    mine.answered = true;
    if (mine === open && String(getSelection()) === '') answer.replaceChildren(scroll('What reached it', h('pre', null, text)));
  } else {
    const doc = await came.json();
    if (mine !== open) return;
    mine.answered = true;
    if (String(getSelection()) !== '') return;
    const sides = [...answer.querySelectorAll('.scroll')].map((e) => e.scrollLeft);
    answer.replaceChildren(...[drawn[mine.question](doc).map(({ head, body }) => [h('p', { class: 'cause' }, head), body]), source(doc)].flat(Infinity));
    [...answer.querySelectorAll('.scroll')].forEach((e, i) => { e.scrollLeft = sides[i] ?? 0; });
  }
}

async function go(mine) {
  mine.turn += 1;
  const { turn } = mine;
  try {
    while (mine === open && turn === mine.turn && !document.hidden) {
      const next = Date.now() + EACH;
      await round(mine);
      await pause(next - Date.now());
    }
    if (turn === mine.turn) mine.on = false; // nobody looks: soon it is off
  } catch (fault) {
    if (mine === open) say(fault instanceof TypeError ? 'The server does not answer.' : fault.message, true);
  }
}

/** Opens the panel; what: { pid, host, kind, function, question }. */
export function ask(what) {
  open = { ...what, on: false, asked: 0, answered: false, turn: 0 };
  const mine = open;
  const turned = !panel.hidden; // from one question to another
  const own = OF_FUNCTION.some(([name]) => name === what.question);
  const about = [what.question === 'probe' ? null : what.kind, own ? what.function : null].filter(Boolean).join(', ');
  title.textContent = own ? `${what.question === 'cpu' ? 'On a processor' : 'What reaches it'}: ${about || 'all that runs'}` : `Why are requests slow? ${what.kind ?? 'all kinds'}`;
  const choices = what.function ? OF_FUNCTION : [...QUESTIONS, OF_FUNCTION[0]];
  cost.textContent = '';
  say(what.question === 'probe' ? 'The first answer comes in a second.' : 'Recording; the first answer comes in a second.', false);
  panel.replaceChildren(title,
    h('div', { class: 'tools' }, choice('Question', choices, what.question, (question) => ask({ ...mine, question })), again, stop),
    cost, answer);
  panel.hidden = false;
  (turned ? panel.querySelector('[aria-pressed=true]') : title).focus({ preventScroll: true });
  if (!turned) panel.scrollIntoView({ block: 'start' });
  go(mine);
}

/** Nobody asks any more, so that the recording ends. */
export function close() {
  open = null;
  panel.hidden = true;
}

const buttons = (page, questions, what) => (page.ask
  ? h('div', { class: 'tools ask', role: 'group', 'aria-label': 'Questions that need more while they are open' },
    questions.map(([question, text]) => h('button', {
      type: 'button', title: question === 'probe' ? 'watches the function while its panel is open' : 'records the process while its panel is open', onclick: () => page.ask({ ...what, question }),
    }, text)))
  : null);

/** Buttons that open it, of requests of this kind; null: of all. None where no live process is served. */
export const askButtons = (page, kind) => buttons(page, [...QUESTIONS, ['cpu', 'where their processor time goes']], { kind, function: null });
/** ... of this function. */
export const askFunction = (page, f) => buttons(page, OF_FUNCTION, { kind: null, function: f.name });

let shown = 'tail'; // of a recording

/** Of a recording: the answers, each part of them folded behind what it is about. */
export function answers(page) {
  const all = page.doc.answers;
  const asked = QUESTIONS.filter(([name]) => all[name]);
  const box = h('div', { class: 'answer' });
  const show = (question) => {
    shown = question;
    box.replaceChildren(...drawn[question](all[question]).map(({ head, body }, i) =>
      h('details', { open: i === 0 }, h('summary', { class: 'cause' }, head), body)));
  };
  if (!asked.some(([name]) => name === shown)) shown = asked[0]?.[0];
  if (shown) show(shown);
  return section('answers', 'Why requests are slow', asked.length ? h('div', { class: 'tools' }, choice('Question', asked, shown, show)) : null,
    asked.length ? box : h('p', { class: 'quiet' }, 'None has begun and ended in it.'));
}

export function askPanel() {
  document.addEventListener('visibilitychange', () => { if (open && !document.hidden) go(open); });
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape' && open && panel.contains(event.target)) close(); });
  return panel;
}
