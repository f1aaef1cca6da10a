// SPDX-License-Identifier: MIT
// What measuring cost, what is missing, and whose numbers these are.
import { h, section } from './dom.js';
import { bytes, count, percent, place, plural, time } from './format.js';
import { table } from './table.js';

const LOST = [
  ['lost_futures', 'futures without a record, in no number'], ['lost_events', 'events of threads that got no room'],
  ['nested_events', 'events inside a signal handler'], ['missed_events', 'events that did not fit what was known'],
  ['lost_requests', 'requests that had no room: their futures are of none'],
  ['lost_shares', 'futures that lost track of their request'],
  ['lost_histograms', 'histograms that were not kept'], ['other_nodes', 'paths counted under (other)'],
  ['torn_threads', 'threads killed inside an event'], ['lost_delays', 'delays that are in no list'],
  ['refused_modules', 'modules of another version of the plugin, not profiled'],
];

export const lost = (health) => LOST.filter(([name]) => health[name]);

function facts(rows) {
  return h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, text]) => [h('dt', null, name), h('dd', null, text)]));
}

function process({ process: p, summary, directory, clock }) {
  return facts([
    ['command', h('code', null, p.command)],
    ['process', `${p.name}, pid ${p.pid} on ${p.host}${p.container ? `, container ${p.container}` : ''}`],
    ['began', p.started_at ?? 'not known'],
    ['measured', `${time(p.measured_ns ?? p.elapsed_ns)} of ${time(p.elapsed_ns)}${summary.interval ? ', between two moments' : ''}`],
    ['as of', `${p.dumped_at ?? 'now'} (${p.reason})`],
    ['clock', `${clock.source}, ${count(clock.hz)} ticks a second`],
    p.build_id ? ['build', h('code', null, p.build_id)] : null,
    directory ? ['files are in', h('code', null, directory)] : null,
    p.aprof_version ? ['aprof', p.aprof_version] : null,
  ]);
}

function cost({ health }) {
  return facts([
    ['of the loops’ work', health.overhead_percent === null ? 'not known'
      : `${health.event_cost_timed ? '' : 'at least '}${health.overhead_percent.toFixed(1)} %`],
    ['events', `${count(health.events)}, ${health.event_cost_ns === null ? 'cost not known' : `${time(health.event_cost_ns)} each`}`],
    ['in all', time(health.cost_ns)],
    ['memory', bytes(health.memory_bytes)],
  ]);
}

/** Events of a recording, which were written down beside what the program counted. */
function recording({ recording: r }) {
  return facts([
    ['events', `${count(r.events)}, ${r.lost ? `${count(r.lost)} lost` : 'none lost'}`],
    ['requests', `${count(r.requests)}${r.partial ? `, of which ${count(r.partial)} are not whole and in no sum` : ', all whole'}`],
    r.sampled ? ['share', `${count(r.sampled.kept)} of ${count(r.sampled.begun)} that began`] : null,
    r.truncated ? ['end', 'the file was cut off'] : null,
  ]);
}

function misses(page, title, all) {
  const rows = all.filter((m) => m.count); // of a range there may be none
  return rows.length ? [h('h4', null, title), table({
    label: title,
    rows,
    sort: { by: 2, down: true },
    columns: [
      { title: 'Place', text: true, value: (m) => place(m.file, m.line) ?? '', show: (m) => [h('code', null, m.name ?? '?'), ' ', page.placeLink(place(m.file, m.line))] },
      { title: 'What', text: true, value: (m) => m.kind },
      { title: 'Count', value: (m) => m.count, show: (m) => count(m.count) },
    ],
  })] : null;
}

function coverage(page) {
  const { doc } = page;
  const missing = lost(doc.health);
  const unseen = doc.functions.filter((f) => f.unseen);
  return [
    missing.length
      ? h('ul', null, missing.map(([name, text]) => h('li', null, `${count(doc.health[name])} ${text}`,
        name === 'refused_modules' && doc.health.refused_module ? `: ${doc.health.refused_module}` : '')))
      : h('p', null, 'Nothing was lost.'),
    doc.health.consistent ? null : h('p', null, 'Read while busy: the last instants are blurred.'),
    doc.health.confined ? h('p', null, 'The program had given up system calls.') : null,
    doc.summary.shed.length ? h('p', null, `Detail was shed (~): ${doc.summary.shed.join(', ')}.`) : null,
    unseen.length ? h('details', null, h('summary', null, `${plural(unseen.length, 'function')} of which no event was seen: not compiled with the plugin, or never run`),
      h('ul', null, unseen.slice(0, 200).map((f) => h('li', null, h('code', null, f.name), ' ', place(f.file, f.line) ?? '')))) : null,
    misses(page, 'Events that are in no number', doc.misses),
    misses(page, 'Events that found no future, which may well be all right', doc.ignored),
  ];
}

function threads({ threads: rows }) {
  return table({
    label: 'Threads',
    rows,
    sort: { by: 1, down: true },
    columns: [
      { title: 'Thread', text: true, value: (t) => t.tid, show: (t) => `${t.tid} ${t.name}` },
      { title: 'Exec', hint: 'running futures', value: (t) => t.exec_ns, show: (t) => time(t.exec_ns) },
      { title: 'Idle', hint: 'in the poller', value: (t) => t.idle_ns, show: (t) => time(t.idle_ns) },
      { title: 'Other', hint: 'the loop, and code outside any future', value: (t) => t.other_ns, show: (t) => time(t.other_ns) },
      { title: 'Elapsed', value: (t) => t.elapsed_ns, show: (t) => time(t.elapsed_ns) },
      { title: 'Events', value: (t) => t.events, show: (t) => count(t.events) },
      { title: 'Cost', value: (t) => t.overhead_percent, show: (t) => (t.overhead_percent === null ? '-' : percent(t.overhead_percent / 100)) },
    ],
  });
}

function processes(doc) {
  return doc.processes.length ? [h('h3', null, 'Processes'), table({
    label: 'Processes',
    rows: doc.processes,
    sort: { by: 0, down: false },
    columns: [
      { title: 'Pid', text: true, value: (p) => p.pid, show: (p) => String(p.pid) },
      { title: 'Name', text: true, value: (p) => p.name },
      { title: 'Host', text: true, value: (p) => p.host },
      { title: 'Measured', value: (p) => p.measured_ns, show: (p) => time(p.measured_ns ?? p.elapsed_ns) },
    ],
  })] : null;
}

export function health(page) {
  if (page.doc.recording)
    return section('health', 'What is recorded, and what is not', h('div', { class: 'cards' },
      h('div', null, h('h3', null, 'What is in it'), recording(page.doc)),
      h('div', null, h('h3', null, 'Whose numbers these are'), process(page.doc))));
  return section('health', 'Health, coverage and cost',
    h('div', { class: 'cards' },
      h('div', null, h('h3', null, 'What is missing'), coverage(page)),
      h('div', null, h('h3', null, 'What it cost'), cost(page.doc)),
      h('div', null, h('h3', null, 'Whose numbers these are'), process(page.doc))),
    processes(page.doc),
    h('h3', null, 'Threads'), threads(page.doc));
}
