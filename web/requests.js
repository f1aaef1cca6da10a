// SPDX-License-Identifier: MIT
// Requests by kind: how long they take, in which state and tier; the slowest; those that go on.
import { askButtons } from './ask.js';
import { chart } from './chart.js';
import { choice, h, section } from './dom.js';
import { count, marked, percent, place, time } from './format.js';
import { states } from './states.js';
import { processColumn, table } from './table.js';

let chosen = null; // the kind whose row was picked last
/** Picks it: the slowest that are kept stand in all about a kind. */
export function pickKind(page, kind) {
  chosen = kind;
  page.showKind();
}
let shown = 'wall'; // which distribution

const lacks = (k, name) => k.lacks.includes(name);
const rate = (k) => (k.per_second === null ? '-' : k.per_second < 100 ? k.per_second.toFixed(1) : count(Math.round(k.per_second)));
const each = (k, ns) => (k.count ? ns / k.count : null);
/** "db 66 %, fs 10 %": the tiers with the most of the time. */
const tiersOf = (tiers, share) => tiers.map((t) => [t.tier, share(t)]).filter(([, part]) => part >= 0.01).slice(0, 3)
  .map(([name, part]) => `${name} ${percent(part)}`).join(', ');

const columns = (page) => [
  {
    title: 'Kind',
    text: true,
    value: (k) => k.name,
    show: (k) => [h('span', { class: 'name' }, k.name), h('span', { class: 'place' }, `${k.function} ${place(k.file, k.line) ?? ''}`)],
  },
  { title: 'Count', hint: 'requests that ended', value: (k) => k.count, show: (k) => count(k.count) },
  { title: 'Per s', value: (k) => k.per_second, show: rate },
  { title: 'Live', hint: 'that go on', value: (k) => k.live, show: (k) => count(k.live) },
  ...(page.doc.requests.some((k) => k.failed) ? [{ title: 'Failed', value: (k) => k.failed, show: (k) => count(k.failed) }] : []),
  { title: 'p50', hint: 'of wall: from its beginning to its end', value: (k) => k.wall?.p50 ?? null, show: (k) => marked(lacks(k, 'wall'), time(k.wall?.p50)) },
  { title: 'p99', value: (k) => k.wall?.p99 ?? null, show: (k) => marked(lacks(k, 'wall'), time(k.wall?.p99)) },
  { title: 'Wall', hint: 'mean', value: (k) => k.wall_mean_ns, show: (k) => marked(lacks(k, 'wall_ns'), time(k.wall_mean_ns)) },
  { title: 'Queued', hint: 'of all its futures, mean', value: (k) => each(k, k.queued_ns), show: (k) => time(each(k, k.queued_ns)) },
  { title: 'Exec', value: (k) => each(k, k.exec_ns), show: (k) => time(each(k, k.exec_ns)) },
  { title: 'Waiting', value: (k) => each(k, k.waiting_ns), show: (k) => time(each(k, k.waiting_ns)) },
  { title: 'States', hint: 'queued, running, waiting', value: (k) => k.member_ns, show: states },
  // A recording's are in its answers.
  ...(page.doc.recording ? [] : [{ title: 'Tiers', text: true, value: (k) => k.tiers[0]?.tier ?? '', show: (k) => tiersOf(k.tiers, (t) => t.share) || '-' }]),
];

// -- one kind ------------------------------------------------------------------------------

function distributions(k) {
  const all = [['wall', 'Wall', 'wall'], ['queued', 'Queued', 'queued'], ['exec', 'Exec', 'running'], ['waiting', 'Waiting', 'waiting']]
    .filter(([name]) => k[name]);
  if (!all.length) return h('p', { class: 'quiet' }, 'No distribution was measured.');
  const box = h('div');
  const show = (name) => {
    const [member, title, state] = all.find(([one]) => one === name) ?? all[0];
    shown = member;
    box.replaceChildren(chart(title, state, k[member], lacks(k, member)));
  };
  show(shown);
  return h('div', null, choice('Distribution of', all.map(([name, title]) => [name, title]), all.some(([name]) => name === shown) ? shown : all[0][0], show), box);
}

const tierTable = (k) => table({
  label: `Tiers of ${k.name}`,
  rows: k.tiers,
  sort: { by: 1, down: true },
  columns: [
    { title: 'Tier', text: true, value: (t) => t.tier },
    { title: 'Share', hint: 'of the time of all its futures', value: (t) => t.share, show: (t) => percent(t.share) },
    { title: 'Requests', hint: 'that were in it', value: (t) => t.count, show: (t) => count(t.count) },
    { title: 'Calls', value: (t) => t.calls, show: (t) => count(t.calls) },
    { title: 'Exec', hint: 'its own, of each of these', value: (t) => t.exec_mean_ns, show: (t) => time(t.exec_mean_ns) },
    { title: 'Waits', value: (t) => t.waiting_mean_ns, show: (t) => time(t.waiting_mean_ns) },
    { title: 'p50', hint: 'of wall: from entering to leaving it', value: (t) => t.wall?.p50 ?? null, show: (t) => time(t.wall?.p50) },
    { title: 'p99', value: (t) => t.wall?.p99 ?? null, show: (t) => time(t.wall?.p99) },
  ],
  empty: 'It was in no tier: a line with tier= names one.',
});

const slowTiers = (s) => tiersOf(s.tiers, (t) => (s.member_ns ? (t.exec_ns + t.waiting_ns) / s.member_ns : 0));
const slowTable = (page, k) => table({
  label: `The slowest of ${k.name}`,
  rows: k.slowest,
  sort: { by: 1, down: true },
  most: 5,
  columns: [
    { title: 'Began, UTC', text: true, value: (s) => s.began_at ?? '', show: (s) => s.began_at?.slice(11, 23) ?? '-' },
    { title: 'Wall', value: (s) => s.wall_ns, show: (s) => time(s.wall_ns) },
    ...processColumn(page, k.slowest),
    { title: 'Queued', value: (s) => s.queued_ns, show: (s) => time(s.queued_ns) },
    { title: 'Exec', value: (s) => s.exec_ns, show: (s) => time(s.exec_ns) },
    { title: 'Waiting', value: (s) => s.waiting_ns, show: (s) => time(s.waiting_ns) },
    { title: 'States', hint: 'queued, running, waiting', value: (s) => s.member_ns, show: states },
    { title: 'Tiers', text: true, value: (s) => slowTiers(s), show: (s) => slowTiers(s) || '-' },
    ...(k.slowest.some((s) => s.failed || s.trace)
      ? [{ title: 'Trace', text: true, value: (s) => s.trace ?? '', show: (s) => [s.failed ? 'failed ' : '', s.trace ? h('code', null, s.trace) : ''] }] : []),
  ],
  empty: 'None has ended lately.',
});

/** What is of no tier; all that is queued is, too. */
function rest(k) {
  const share = (ns) => percent(k.member_ns ? ns / k.member_ns : null);
  return k.tiers.length ? h('p', null, `In no tier: queued ${share(k.queued_ns)}, exec ${share(k.other_exec_ns)}, waiting ${share(k.other_waiting_ns)}.`) : null;
}

function live(page, k) {
  const rows = page.doc.live_requests.filter((one) => one.kind === k.kind && one.function === k.function);
  return rows.length ? [h('h4', null, 'That go on'), table({
    label: `Live requests of ${k.name}`,
    rows,
    sort: { by: 0, down: true },
    most: 5,
    columns: [
      { title: 'Age', text: true, value: (one) => one.age_ns, show: (one) => time(one.age_ns) },
      ...processColumn(page, rows),
      { title: 'Futures', value: (one) => one.members, show: (one) => count(one.members) },
      { title: 'Held by', text: true, value: (one) => one.holder ?? '', show: (one) => (one.holder ? [h('code', null, one.holder), ` ${one.holder_state ?? ''} `, page.placeLink(one.holder_at)] : '-') },
    ],
  })] : null;
}

function detail(page, k) {
  const beneath = k.kinds_of_function > 1
    ? `${k.kinds_of_function} kinds begin in ${k.function}: functions, paths and waits beneath it are of all of them. ` : '';
  const only = page.chooseKind && page.kind !== k.kind
    ? h('button', { type: 'button', onclick: () => page.chooseKind(k.kind) }, 'all of the page for this kind') : null;
  return [
    h('h3', null, k.name),
    h('div', null,
      h('p', null, 'They begin in ', k.function_index === null ? k.function : page.functionLink(k.function_index), ' ', page.placeLink(place(k.file, k.line)), '. ', beneath,
        k.after ? `${count(k.after)} futures ran on after the end of theirs, for ${time(k.after_exec_ns)}. ` : '', only),
      askButtons(page, k.kind),
      distributions(k)),
    page.doc.recording ? null : h('div', null, h('h4', null, 'Tiers'), tierTable(k), rest(k), live(page, k)),
    page.doc.recording ? null : h('div', { class: 'wide' }, h('h4', null, 'The slowest of the last minutes'), slowTable(page, k)),
  ];
}

// -- all -------------------------------------------------------------------------------------

export function requests(page) {
  const { requests: rows, health } = page.doc;
  const aside = h('aside', { class: 'detail', 'aria-label': 'The selected kind of requests', 'aria-live': 'polite' });
  const picked = () => rows.find((k) => k.kind === (page.kind || chosen)) ?? rows[0];
  const lost = health.lost_requests ? h('p', null, `~ ${count(health.lost_requests)} requests had no room, and are in none of these numbers.`) : null;
  if (!rows.length)
    return section('requests', 'Requests', h('p', { class: 'quiet' }, 'None has ended, and none goes on: a line with root says where one begins.'), lost);
  const fill = () => aside.replaceChildren(...detail(page, picked()).filter(Boolean));
  fill();
  page.showKind = () => { fill(); aside.scrollIntoView({ block: 'start' }); };
  return section('requests', 'Requests by kind',
    h('div', { class: 'kinds' }, table({
      label: 'Requests by kind',
      columns: columns(page),
      rows,
      sort: { by: columns(page).findIndex((c) => c.title === 'States'), down: true },
      pick: (k) => { chosen = k.kind; if (page.kind && page.chooseKind) page.chooseKind(k.kind); else fill(); },
      picked: (k) => k === picked(),
      most: 15,
    })), lost, aside);
}
