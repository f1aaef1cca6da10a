// SPDX-License-Identifier: MIT
// Where the waiting was spent; who woke whom, who delayed whom, what blocked.
import { h, section } from './dom.js';
import { count, place, time } from './format.js';
import { table } from './table.js';

const times = (ns, max = 'max_ns') => [
  { title: 'Count', value: (r) => r.count, show: (r) => count(r.count) },
  { title: 'Total', value: (r) => r[ns], show: (r) => time(r[ns]) },
  { title: 'Mean', value: (r) => r.mean_ns, show: (r) => time(r.mean_ns) },
  { title: 'p99', value: (r) => r.p99_ns, show: (r) => time(r.p99_ns) },
  { title: 'Max', value: (r) => r[max], show: (r) => time(r[max]) },
];

const path = (page, w) => {
  const steps = w.path.split(' > ');
  return steps.map((step, i) => [i ? h('span', { class: 'sep' }, ' › ') : null,
    w.await && step.startsWith(w.await) ? [page.placeLink(w.await), step.slice(w.await.length)] : step]);
};

function spent(page, label, rows) {
  return table({
    label,
    rows,
    sort: { by: 2, down: true },
    columns: [{ title: 'Path', text: true, value: (w) => w.path, show: (w) => path(page, w) }, ...times('waiting_ns')],
    empty: 'Nothing waited.',
  });
}

export function waits(page) {
  const own = page.doc.waits.filter((w) => !w.background);
  const background = page.doc.waits.filter((w) => w.background);
  return section('waits', 'Where the waiting was spent',
    spent(page, 'Where the waiting was spent', own),
    background.length ? h('details', null, h('summary', null, `Waiting for new work: ${background.length}`), spent(page, 'Waiting for new work', background)) : null);
}

const name = (page, title, index) => ({ title, text: true, value: (r) => r[index].name, show: (r) => page.functionLink(page.doc.functions.indexOf(r[index])) });

export function wakes(page) {
  const all = (member) => page.doc.functions.flatMap((f) => f[member].filter((r) => r.count).map((r) => ({ ...r, of: f })));
  const wakers = all('wakers');
  const delayed = all('delayed');
  const blocking = all('blocking');
  const some = (title, rows, columns) => (rows.length ? [h('h3', null, title), table({ label: title, rows, sort: { by: 3, down: true }, columns })] : null);
  return section('wakes', 'Who woke and who delayed whom',
    wakers.length + delayed.length + blocking.length ? null : h('p', { class: 'quiet' }, 'No wake was seen.'),
    some('Who delayed whom, while it held the loop', delayed, [
      name(page, 'Holder', 'of'),
      { title: 'Delayed', text: true, value: (r) => r.name, show: (r) => [h('code', null, r.name), ' ', page.placeLink(place(r.file, r.line))] },
      { title: 'Times', value: (r) => r.count, show: (r) => count(r.count) },
      { title: 'Total', value: (r) => r.delayed_ns, show: (r) => time(r.delayed_ns) },
      { title: 'Max', value: (r) => r.max_ns, show: (r) => time(r.max_ns) },
    ]),
    some('Who woke whom, and how long that was queued then', wakers, [
      { title: 'By', text: true, value: (w) => w.name, show: (w) => page.waker(w) },
      name(page, 'Woke', 'of'),
      { title: 'Count', value: (w) => w.count, show: (w) => count(w.count) },
      { title: 'Queued', value: (w) => w.queued_ns, show: (w) => time(w.queued_ns) },
      { title: 'p50', value: (w) => w.queued?.p50 ?? null, show: (w) => time(w.queued?.p50) },
      { title: 'p99', value: (w) => w.queued?.p99 ?? null, show: (w) => time(w.queued?.p99) },
      { title: 'Max', value: (w) => w.max_ns, show: (w) => time(w.max_ns) },
    ]),
    some('What blocked the loop', blocking, [
      { title: 'Call', text: true, value: (b) => b.callee, show: (b) => [h('code', null, b.callee), ' ', page.placeLink(place(b.file, b.line))] },
      name(page, 'In', 'of'),
      { title: 'Count', value: (b) => b.count, show: (b) => count(b.count) },
      { title: 'Held', value: (b) => b.held_ns, show: (b) => time(b.held_ns) },
      { title: 'p99', value: (b) => b.held?.p99 ?? null, show: (b) => time(b.held?.p99) },
      { title: 'Max', value: (b) => b.max_ns, show: (b) => time(b.max_ns) },
    ]));
}
