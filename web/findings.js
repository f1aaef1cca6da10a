// SPDX-License-Identifier: MIT
// What is wrong, in sentences; and the loops.
import { h, section, sentence } from './dom.js';
import { marked, percent, place, time } from './format.js';
import { processColumn, table } from './table.js';

export function command(text) {
  const code = h('code', null, text);
  const copy = h('button', {
    type: 'button',
    class: 'copy',
    'aria-label': `Copy: ${text}`,
    onclick: () => navigator.clipboard?.writeText(text).then(() => { copy.textContent = 'copied'; }, select) ?? select(),
  }, 'copy');
  const select = () => getSelection().selectAllChildren(code);
  return h('span', { class: 'command' }, code, ' ', copy);
}

function finding(page, f) {
  const at = f.at ?? place(f.file, f.line);
  const cost = f.cost_ns === null ? null : `${time(f.cost_ns)}, ${percent(f.cost_share)} of ${f.cost_of}`;
  return h('li', { class: 'finding' },
    h('p', null, h('span', { class: 'kind' }, f.kind.replaceAll('_', ' ')), ' ', sentence(f.text)),
    f.effects.length ? h('ul', null, f.effects.map((text) => h('li', null, sentence(text)))) : null,
    h('dl', { class: 'facts' },
      cost ? [h('dt', null, 'costs'), h('dd', null, cost)] : null,
      at ? [h('dt', null, 'at'), h('dd', null, page.placeLink(at))] : null,
      f.function_index === null ? null : [h('dt', null, 'function'), h('dd', null, page.functionLink(f.function_index))],
      f.next ? [h('dt', null, 'next'), h('dd', null, command(f.next))] : null));
}

export function findingList(page, findings) {
  return h('ol', { class: 'findings' }, findings.map((f) => finding(page, f)));
}

function nothing({ summary }) {
  const seen = summary.holds_seen;
  const limit = time(summary.held_limit_ns);
  return seen === null || seen >= 1
    ? `No finding: nothing held the loop for over ${limit}.`
    : `No finding, but holds of the loop could be seen for ${percent(seen)} of its time only (~).`;
}

export function findings(page) {
  const first = page.doc.findings.filter((f) => f.cause_index === null);
  const rest = page.doc.findings.filter((f) => f.cause_index !== null);
  return section('findings', 'Findings',
    first.length ? findingList(page, first) : h('p', null, nothing(page.doc)),
    rest.length
      ? h('details', null, h('summary', null, `${rest.length} more, which come of these`), findingList(page, rest))
      : null);
}

/** A share as a bar, with the number beside it. */
function bar(share, text) {
  const fill = h('span', { class: 'bar-fill' });
  fill.style.width = `${Math.min(100, 100 * (share ?? 0))}%`;
  return h('span', { class: 'share' }, h('span', { class: 'bar', 'aria-hidden': 'true' }, fill), text);
}

export function loops(page) {
  const own = page.doc.loops.filter((loop) => !loop.pool);
  const pool = page.doc.loops.filter((loop) => loop.pool);
  const lacks = (loop, name) => loop.lacks.includes(name);
  const columns = [
    { title: 'Loop', text: true, value: (l) => l.tid, show: (l) => `${l.tid} ${l.name}` },
    ...processColumn(page),
    { title: 'Busy', hint: 'not asleep in its poller', value: (l) => l.busy, show: (l) => (l.busy === null ? '-' : bar(l.busy, percent(l.busy))) },
    { title: 'Ran futures', value: (l) => l.exec_share, show: (l) => bar(l.exec_share, percent(l.exec_share)) },
    { title: 'Longest hold', value: (l) => l.held_ns, show: (l) => marked(lacks(l, 'hold_max_ns'), time(l.held_ns)) },
    { title: 'By', text: true, value: (l) => l.held_by ?? '', show: (l) => (l.held_by ? h('span', null, h('code', null, l.held_by), l.held_from ? [' ', page.placeLink(l.held_from)] : null) : '-') },
  ];
  return section('loops', 'Loops',
    table({ label: 'Loops', columns: own.some((l) => l.busy !== null) ? columns : columns.filter((c) => c.title !== 'Busy'), rows: own, sort: {}, empty: 'No loop ran futures.' }),
    pool.length ? h('details', null, h('summary', null, `${pool.length} threads of pools`), table({ label: 'Threads of pools', columns: columns.filter((c) => ['Loop', 'Process', 'Ran futures'].includes(c.title)), rows: pool, sort: {} })) : null);
}
