// SPDX-License-Identifier: MIT
// Elements. Texts are text nodes, so no name is ever read as HTML.

/** h('p', { class: 'x', onclick: f, hidden: false }, 'text', element, [more], null) */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function section(id, title, ...children) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), children);
}

/** One of several, as buttons: options are [value, text]. */
export function choice(label, options, chosen, choose) {
  const group = h('div', { class: 'choice', role: 'group', 'aria-label': label });
  const buttons = options.map(([value, text]) =>
    h('button', {
      type: 'button',
      'aria-pressed': String(value === chosen),
      onclick: () => {
        buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(options[i][0] === value)));
        choose(value);
      },
    }, text));
  group.append(...buttons);
  return group;
}

/** Text whose `like this` is code, as sentences of findings have it. */
export function sentence(text) {
  return text.split(/`([^`]*)`/).map((part, i) => (i % 2 ? h('code', null, part) : part));
}

/** What is wider than the page scrolls by itself, by keyboard, too. */
export function scroll(label, ...children) {
  return h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label }, children);
}
