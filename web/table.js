// SPDX-License-Identifier: MIT
// Tables that sort by a click on a head, and of which a row can be picked.
import { h, scroll } from './dom.js';

/** What a row is of, where there are several processes; of functions that are summed there is none. */
export function processColumn(page, rows = null) {
  if (page.doc.processes.length < 2 || rows?.every((row) => row.process === null)) return [];
  const of = (row) => page.processOf(row.process);
  return [{ title: 'Process', hint: page.hosts > 1 ? 'host and number' : 'its number', text: true, value: of, show: of }];
}

const orders = new Map(); // by label, so that a page that is drawn again keeps them

/**
 * columns: { title, hint, text (a name, not a number), value(row), show(row) }; the first names the
 * row. pick(row), picked(row): a row may be chosen. most: rows, unless all are asked for.
 */
export function table({ label, columns, rows, sort, pick, picked, empty, most = 12 }) {
  const order = orders.get(label) ?? { ...sort };
  orders.set(label, order);
  // Columns come and go with what is shown.
  const at = columns.findIndex((column) => column.title === order.title);
  if (at >= 0) order.by = at;
  else Object.assign(order, { title: undefined, ...sort });
  if (!rows.length) return h('p', { class: 'quiet' }, empty ?? 'None.');
  const body = h('tbody', { onkeydown: walk });
  const heads = columns.map((column, i) => {
    const button = h('button', { type: 'button', title: column.hint, onclick: () => turn(i) }, column.title);
    return h('th', { scope: 'col', class: column.text ? 'text' : null }, button);
  });

  function turn(i) {
    if (order.by === i) Object.assign(order, { title: columns[i].title, down: !order.down });
    else Object.assign(order, { by: i, title: columns[i].title, down: !columns[i].text });
    fill();
  }

  function compare(a, b) {
    const { value } = columns[order.by];
    const [x, y] = [value(a), value(b)];
    if (x === y) return 0;
    if (x === null || x === undefined) return 1; // what is not known stands last
    if (y === null || y === undefined) return -1;
    const way = typeof x === 'string' ? x.localeCompare(y) : x - y;
    return order.down ? -way : way;
  }

  function row(data) {
    const chosen = picked?.(data);
    const cells = columns.map((column, i) => {
      const text = column.show ? column.show(data) : column.value(data);
      if (i) return h('td', { class: column.text ? 'text' : null }, text);
      return h('th', { scope: 'row', class: 'text' },
        pick ? h('button', { type: 'button', class: 'pick', 'aria-pressed': String(!!chosen), onclick: () => choose(data) }, text) : text);
    });
    return h('tr', { class: chosen ? 'picked' : null }, cells);
  }

  function choose(data) {
    pick(data);
    for (const [i, tr] of [...body.rows].entries()) {
      const is = shown[i] && picked(shown[i]);
      tr.className = is ? 'picked' : '';
      tr.querySelector('.pick')?.setAttribute('aria-pressed', String(!!is));
    }
  }

  // Arrows go from row to row.
  function walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const tr = event.target.closest('tr');
    if (!step || !pick || !tr) return;
    const next = body.rows[tr.rowIndex - 1 + step]?.querySelector('.pick');
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  let shown = [];
  function fill() {
    heads.forEach((head, i) =>
      head.setAttribute('aria-sort', i !== order.by ? 'none' : order.down ? 'descending' : 'ascending'));
    const sorted = order.by === undefined ? rows : [...rows].sort(compare);
    shown = order.all ? sorted : sorted.slice(0, most);
    body.replaceChildren(...shown.map(row));
    more.hidden = shown.length === rows.length;
  }

  const more = h('button', { type: 'button', class: 'more', onclick: () => { order.all = true; fill(); } }, `Show all ${rows.length}`);
  fill();
  return h('div', null, scroll(label, h('table', null, h('thead', null, h('tr', null, heads)), body)), more);
}
