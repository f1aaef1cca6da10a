// SPDX-License-Identifier: MIT
// The table of functions.
import { choice, h, section } from './dom.js';
import { count, marked, percent, place, time } from './format.js';
import { detail } from './detail.js';
import { states } from './states.js';
import { processColumn, table } from './table.js';

const state = { filter: '', libraries: false, per: 'future' };

const active = (f) => f.created || f.exec_ns || f.waiting_ns || f.queued_ns || f.slices || f.live;
const lacks = (f, name) => f.lacks.includes(name);

function sums() {
  const future = state.per === 'future';
  return [['Queued', 'queued'], ['Exec', 'exec'], ['Waits', 'waiting'], ['Wall', 'wall']].map(([title, name]) => {
    const member = future ? `${name}_mean_ns` : `${name}_ns`;
    return {
      title,
      hint: `${name}, ${future ? 'mean of a future' : 'of all its futures'}`,
      value: (f) => f[member],
      show: (f) => marked(lacks(f, `${name}_ns`), time(f[member])),
    };
  });
}

const columns = (page) => [
  {
    title: 'Function',
    text: true,
    value: (f) => f.name,
    show: (f) => [h('span', { class: 'name' }, page.nameOf(f)), h('span', { class: 'place' }, place(f.file, f.line) ?? '')],
  },
  ...processColumn(page, page.doc.functions),
  { title: 'Futures', hint: 'made', value: (f) => f.created, show: (f) => count(f.created) },
  { title: 'Live', value: (f) => f.live, show: (f) => count(f.live) },
  { title: 'Runs', hint: 'holds of the loop', value: (f) => f.slices, show: (f) => count(f.slices) },
  ...(page.doc.recording ? [] : [{ title: 'Loop', hint: 'share of the loops’ time', value: (f) => f.loop_share, show: (f) => marked(lacks(f, 'exec_ns'), percent(f.loop_share)) },
  { title: 'Run p99', value: (f) => f.slice?.p99 ?? null, show: (f) => marked(lacks(f, 'slice'), time(f.slice?.p99)) },
  { title: 'Worst', hint: 'longest run', value: (f) => f.longest_ns, show: (f) => marked(lacks(f, 'slice_max_ns'), time(f.longest_ns)) }]),
  ...sums(),
  { title: 'States', hint: 'queued, running, waiting', value: (f) => f.exec_ns, show: states },
];

export function functions(page) {
  const box = h('div', { class: 'rows' });
  const aside = h('aside', { class: 'detail', 'aria-label': 'The selected function', 'aria-live': 'polite' });
  const said = h('span', { class: 'quiet', role: 'status' });

  function wanted() {
    const text = state.filter.toLowerCase();
    return page.doc.functions.filter((f) => active(f) && (state.libraries || !f.library) &&
      (!text || `${f.name} ${place(f.file, f.line) ?? ''}`.toLowerCase().includes(text)));
  }

  function fill() {
    const rows = wanted();
    const libraries = page.doc.functions.filter((f) => active(f) && f.library).length;
    said.textContent = `${rows.length} of ${page.doc.functions.length}` +
      (!state.libraries && libraries ? `, ${libraries} of libraries hidden` : '');
    box.replaceChildren(table({
      label: 'Functions',
      columns: columns(page),
      rows,
      sort: { by: columns(page).findIndex((c) => c.title === (page.doc.recording ? 'States' : 'Loop')), down: true },
      pick: (f) => page.select(page.doc.functions.indexOf(f)),
      picked: (f) => f === page.doc.functions[page.selected],
      empty: 'No function fits.',
      most: 100,
    }));
  }

  const filter = h('input', {
    type: 'search', id: 'filter', placeholder: 'name or file', 'aria-label': 'Filter functions', value: state.filter,
    oninput: () => { state.filter = filter.value; fill(); },
  });
  const libraries = h('input', { type: 'checkbox', checked: state.libraries, onchange: () => { state.libraries = libraries.checked; fill(); } });
  page.onSelect(() => {
    aside.replaceChildren(...detail(page, page.doc.functions[page.selected]));
    for (const tr of box.querySelectorAll('tbody tr')) {
      const is = tr.querySelector('.pick .name')?.textContent === (page.selected === null ? null : page.nameOf(page.doc.functions[page.selected]));
      if (!is) tr.className = '';
    }
  });
  if (page.selected === null) {
    const first = wanted().sort((a, b) => (b.loop_share ?? 0) - (a.loop_share ?? 0) || b.exec_ns - a.exec_ns)[0];
    page.selected = first ? page.doc.functions.indexOf(first) : null;
  }
  fill();
  if (page.selected !== null) aside.replaceChildren(...detail(page, page.doc.functions[page.selected]));
  return section('functions', 'Functions',
    h('div', { class: 'tools' },
      filter,
      h('label', null, libraries, ' code of libraries'),
      choice('Times of', [['future', 'per future'], ['total', 'in total']], state.per, (per) => { state.per = per; fill(); }),
      said),
    box, aside);
}
