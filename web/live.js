// SPDX-License-Identifier: MIT
// What lives: futures under those that made them.
import { h, scroll, section } from './dom.js';
import { count, place, plural, time } from './format.js';

const MOST = 200;

function where(page, g) {
  if (g.holds_loop !== null) return h('strong', { class: 'alarm' }, `holds loop ${g.holds_loop}`);
  const at = g.await ?? g.created_at;
  return [g.await || !at ? '' : 'created ', at ? page.placeLink(at) : '?', g.callee && g.callee !== g.function ? ` ${g.callee}` : '',
    g.due_in_ns ? `, due in ${time(g.due_in_ns)}` : ''];
}

function row(page, g) {
  const name = h('th', { scope: 'row', class: 'text' }, g.depth ? '└ ' : '', page.namedLink(g), g.count > 1 ? ` ×${count(g.count)}` : '',
    page.processOf(g.process ?? null) ? h('span', { class: 'place' }, ` ${page.processOf(g.process)}`) : null);
  name.style.paddingInlineStart = `${0.4 + Math.min(g.depth, 12) * 1.1}rem`;
  return h('tr', null, name,
    h('td', { class: 'text' }, g.state ? h('span', { class: `state ${g.state}` }, g.state) : '?'),
    h('td', null, time(g.since_ns)), h('td', null, time(g.age_ns)), h('td', { class: 'text' }, where(page, g)));
}

export function live(page) {
  const { doc } = page;
  const { groups, listeners } = doc.live;
  const states = ['running', 'queued', 'waiting', 'unknown'].filter((name) => doc.live[name]).map((name) => `${count(doc.live[name])} ${name === 'unknown' ? 'not known' : name}`);
  const body = h('tbody', null, groups.slice(0, MOST).map((g) => row(page, g)));
  const more = h('button', { type: 'button', class: 'more', onclick: () => { body.replaceChildren(...groups.map((g) => row(page, g))); more.remove(); } }, `Show all ${groups.length}`);
  return section('live', 'Live futures',
    h('p', null, states.length ? `${states.join(', ')}.` : 'None lives, but what waits for new work.',
      doc.live.apart ? ` ${plural(doc.live.apart, 'young future')} of which only groups are listed stand there without who made them.` : ''),
    groups.length ? scroll('Live futures', h('table', null,
      h('thead', null, h('tr', null, ['Future', 'State', 'For', 'Age', 'Where'].map((text, i) => h('th', { scope: 'col', class: i === 2 || i === 3 ? null : 'text' }, text)))), body)) : null,
    groups.length > MOST ? more : null,
    listeners.length ? h('p', null, 'Waiting for new work: ', listeners.map((g, i) => [i ? ', ' : '', page.namedLink(g),
      g.count > 1 ? ` ×${count(g.count)}` : '', ' ', page.placeLink(g.await ?? place(g.file, g.line))]), '.') : null);
}
