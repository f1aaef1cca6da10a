// SPDX-License-Identifier: MIT
// All about the selected function.
import { askButtons, askFunction } from './ask.js';
import { choice, h, scroll } from './dom.js';
import { chart } from './chart.js';
import { count, marked, place, plural, time } from './format.js';
import { findingList } from './findings.js';
import { pickKind } from './requests.js';
import { table } from './table.js';

let shown = 'slice'; // which distribution

const lacks = (f, name) => f.lacks.includes(name);

function ends(f) {
  const what = [['created', 'made'], ['done', 'done'], ['failed', 'failed'], ['cancelled', 'cancelled'],
    ['detached', 'detached'], ['live', 'live'], ['born_done', 'done at once']];
  return `Futures: ${what.filter(([name], i) => !i || f[name]).map(([name, text]) => `${count(f[name])} ${text}`).join(', ')}.`;
}

function longest(page, f) {
  if (!f.slice_max_ns || !f.slice_max_between) return null;
  const [from, to] = f.slice_max_between;
  return h('p', null, `Longest run ${time(f.slice_max_ns)}: `, from ? page.placeLink(from) : '?', ' to ', to ? page.placeLink(to) : '?',
    f.slice_max_mostly ? [', mostly in ', h('code', null, f.slice_max_mostly)] : null, '.');
}

function quantities(page, f) {
  const rows = [
    ['a run', null, null, f.slice, f.longest_ns, 'slice'],
    ['a life', f.wall_ns, f.wall_mean_ns, f.wall, f.wall_max_ns, 'wall'],
    ['queued', f.queued_ns, f.queued_mean_ns, f.queued, null, 'queued'],
    ['running', f.exec_ns, f.exec_mean_ns, f.exec, f.exec_max_ns, 'exec'],
    ['waiting', f.waiting_ns, f.waiting_mean_ns, null, null, 'waiting'],
    ['its children ran', f.children_exec_ns, null, null, null, 'children_exec'],
  ].filter(([text]) => !page.doc.recording || (text !== 'a run' && text !== 'its children ran')); // a profile alone knows these
  const cell = (name, ns) => h('td', null, marked(lacks(f, name), time(ns)));
  return scroll('Times', h('table', { class: 'plain' },
    h('thead', null, h('tr', null, ['', 'total', 'mean', 'p50', 'p99', 'worst'].map((text) => (text ? h('th', { scope: 'col' }, text) : h('td'))))),
    h('tbody', null, rows.map(([text, total, mean, spread, worst, name]) =>
      h('tr', null, h('th', { scope: 'row', class: 'text' }, text), cell(`${name}_ns`, total), cell(`${name}_ns`, mean),
        cell(name, spread?.p50), cell(name, spread?.p99), cell(name, worst))))));
}

function distributions(f) {
  const own = [['slice', 'Runs', 'running'], ['wall', 'Lives', 'wall'], ['queued', 'Queued', 'queued'], ['exec', 'Exec', 'running']]
    .filter(([name]) => f[name])
    .map(([name, title, state]) => ({ name, title, state, of: f[name], lack: lacks(f, name) }));
  const waits = f.awaits.filter((a) => a.waiting)
    .map((a, i) => ({ name: `await ${i}`, title: a.kind === 'return' ? `Waits at ${place(a.file, a.line)}` : `Waits for ${a.callee}, ${place(a.file, a.line) ?? ''}`, state: 'waiting', of: a.waiting, lack: lacks(f, 'slice') }));
  const all = [...own, ...waits];
  if (!all.length) return h('p', { class: 'quiet' }, 'No distribution was measured.');
  const box = h('div');
  const show = (name) => {
    const one = all.find((d) => d.name === name) ?? all[0];
    shown = one.name;
    box.replaceChildren(chart(one.title, one.state, one.of, one.lack));
  };
  show(shown);
  return h('div', null, choice('Distribution of', all.map((d) => [d.name, d.title]), all.find((d) => d.name === shown) ? shown : all[0].name, show), box);
}

const part = (title, element) => (element ? [h('h4', null, title), element] : null);
const some = (rows, make) => (rows.length ? make(rows) : null);

const awaits = (page, f) => some(f.awaits.filter((a) => a.count || a.all_ns), (rows) => table({
  label: 'Where it waits',
  rows,
  sort: { by: 2, down: true },
  columns: [
    { title: 'For', text: true, value: (a) => a.callee, show: (a) => [h('code', null, a.callee), ' ', page.placeLink(place(a.file, a.line)), a.background ? ' new work' : ''] },
    { title: 'Count', value: (a) => a.count, show: (a) => count(a.count) },
    { title: 'Total', value: (a) => a.all_ns, show: (a) => marked(lacks(f, 'waiting_ns'), time(a.all_ns)) },
    { title: 'p50', value: (a) => a.waiting?.p50 ?? null, show: (a) => time(a.waiting?.p50) },
    { title: 'p99', value: (a) => a.waiting?.p99 ?? null, show: (a) => time(a.waiting?.p99) },
    { title: 'Max', value: (a) => a.max_ns, show: (a) => time(a.max_ns) },
  ],
}));

const callers = (page, f) => some(page.pathsOf(f), (rows) => table({
  label: 'Who makes it',
  rows,
  sort: { by: 1, down: true },
  columns: [
    { title: 'Path', text: true, value: (p) => p.callers.join(' > '), show: (p) => p.callers.join(' › ') || '(nobody: a root)' },
    { title: 'Futures', value: (p) => p.count, show: (p) => count(p.count) },
    { title: 'Queued', value: (p) => p.queued_ns, show: (p) => time(p.queued_ns) },
  ],
}));

const wakers = (page, f) => some(f.wakers.filter((w) => w.count), (rows) => table({
  label: 'Who wakes it',
  rows,
  sort: { by: 2, down: true },
  columns: [
    { title: 'By', text: true, value: (w) => w.name, show: (w) => page.waker(w) },
    { title: 'Count', value: (w) => w.count, show: (w) => count(w.count) },
    { title: 'Queued then', value: (w) => w.queued_ns, show: (w) => time(w.queued_ns) },
    { title: 'p99', value: (w) => w.queued?.p99 ?? null, show: (w) => time(w.queued?.p99) },
    { title: 'Max', value: (w) => w.max_ns, show: (w) => time(w.max_ns) },
  ],
}));

const held = (page, label, title, all) => some(all.filter((d) => d.count), (rows) => table({
  label,
  rows,
  sort: { by: 2, down: true },
  columns: [
    { title, text: true, value: (d) => d.name, show: (d) => [h('code', null, d.name), ' ', page.placeLink(place(d.file, d.line))] },
    { title: 'Times', value: (d) => d.count, show: (d) => count(d.count) },
    { title: 'Delayed', value: (d) => d.delayed_ns, show: (d) => time(d.delayed_ns) },
    { title: 'Max', value: (d) => d.max_ns, show: (d) => time(d.max_ns) },
  ],
}));

function delayers(page, f) {
  return page.doc.functions.flatMap((g) => g.delayed
    .filter((d) => g.process === f.process && d.name === f.name && d.file === f.file && d.line === f.line)
    .map((d) => ({ ...d, name: g.name, file: g.file, line: g.line })));
}

const blocking = (page, f) => some(f.blocking.filter((b) => b.count), (rows) => table({
  label: 'What blocks in it',
  rows,
  sort: { by: 2, down: true },
  columns: [
    { title: 'Call', text: true, value: (b) => b.callee, show: (b) => [h('code', null, b.callee), ' ', page.placeLink(place(b.file, b.line))] },
    { title: 'Count', value: (b) => b.count, show: (b) => count(b.count) },
    { title: 'Held', value: (b) => b.held_ns, show: (b) => time(b.held_ns) },
    { title: 'Max', value: (b) => b.max_ns, show: (b) => time(b.max_ns) },
  ],
}));

function lives(page, f) {
  const groups = [...page.doc.live.groups, ...page.doc.live.listeners]
    .filter((g) => g.function === f.name && g.file === f.file && g.line === f.line);
  return some(groups, () => h('ul', { class: 'lives' }, groups.map((g) => h('li', null,
    `${count(g.count)} ${g.state ?? 'alive'} for ${time(g.since_ns)}, of age ${time(g.age_ns)} `,
    g.await ? ['at ', page.placeLink(g.await)] : g.created_at ? ['created at ', page.placeLink(g.created_at)] : null))));
}

/** The requests that it ran in, mostly: the slowest of them, and why these are slow. */
const requestsOf = (page, f) => (f.request_kind === null ? null : h('div', null,
  h('p', null, 'It ran in requests of ', h('button', { type: 'button', class: 'link', title: 'their times, and the slowest', onclick: () => pickKind(page, f.request_kind) }, f.request_kind), '.'),
  askButtons(page, f.request_kind)));

export function detail(page, f) {
  if (!f) return [h('p', { class: 'quiet' }, 'Pick a function.')];
  const index = page.doc.functions.indexOf(f);
  const findings = page.doc.findings.filter((one) => one.function_index === index);
  return [
    h('div', null,
      h('h3', null, page.nameOf(f)),
      h('p', { class: 'quiet' }, page.placeLink(place(f.file, f.line)) ?? 'place not known', f.model ? `, ${f.model}` : '',
        f.unseen ? ', no event of it was seen: whether it ran is not known' : '',
        f.shared ? ', threads ran it at once: numbers are too low' : ''),
      h('p', null, ends(f)),
      requestsOf(page, f),
      longest(page, f),
      f.unseen ? null : askFunction(page, f),
      findings.length ? findingList(page, findings) : null,
      quantities(page, f),
      part('How it is distributed', distributions(f))),
    h('div', null,
      part('Where it waits', awaits(page, f)),
      part('Who makes it', callers(page, f)),
      part('Who wakes it', wakers(page, f)),
      part('Whom it delays, while it holds the loop', held(page, 'Whom it delays', 'Function', f.delayed)),
      part('Who delays it', held(page, 'Who delays it', 'Function', delayers(page, f))),
      part('What blocks in it', blocking(page, f)),
      part(plural(f.live, 'live future'), lives(page, f))),
  ];
}
