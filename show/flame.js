// SPDX-License-Identifier: MIT
// What a flame graph does in a browser. Without it the picture is the same, and still.
(function () {
  'use strict';
  var ns = 'http://www.w3.org/2000/svg', row = 18, panel = 90, column = 6.7;
  var root = document.currentScript.ownerSVGElement;
  var box = root.querySelector('.frames'), top = +box.getAttribute('y');
  var zoomed, details = [], input, said;

  function number(e, name) { return parseFloat(e.getAttribute(name)); }

  var frames = [].map.call(box.querySelectorAll('.b'), function (e) {
    var title = e.querySelector('title').textContent.split('\n');
    return {e: e, x: number(e, 'x'), w: number(e, 'width'), y: number(e, 'y'),
            label: title[0], title: title, text: e.querySelector('text')};
  });
  var near = 0.0001; // places are rounded

  function within(inner, outer) {
    return inner.x >= outer.x - near && inner.x + inner.w <= outer.x + outer.w + near;
  }

  // They come row by row, each from the left.
  var first = {}, at = 0;
  frames.forEach(function (f, i) {
    if (!(f.y in first)) {
      first[f.y] = i;
      at = first[f.y - row] || 0;
    }
    while (at < i && !within(f, frames[at])) at++;
    f.parent = i ? frames[at < i ? at : 0] : null;
  });

  function make(name, attributes, parent) {
    var e = document.createElementNS(ns, name);
    for (var a in attributes) e.setAttribute(a, attributes[a]);
    parent.appendChild(e);
    return e;
  }

  function cut(text, pixels) {
    var letters = Math.floor((pixels - 6) / column);
    return text.length <= letters ? text : letters < 5 ? '' : text.slice(0, letters - 2) + '..';
  }

  function show(f) {
    var width = root.getBoundingClientRect().width;
    details.forEach(function (e, i) { e.textContent = f ? cut(f.title[i] || '', width * 1.05) : ''; });
    if (!f) details[0].textContent = 'Click: zoom. Esc: back. /: search. Tab: next';
  }

  function draw() {
    var width = root.getBoundingClientRect().width, z = zoomed;
    frames.forEach(function (f) {
      var up = f.y < z.y && within(z, f), seen = up || (f.y >= z.y && within(f, z));
      var x = up ? 0 : (f.x - z.x) / z.w * 100, w = up ? 100 : f.w / z.w * 100;
      var label = seen ? cut(f.label, w * width / 100) : '';
      f.e.style.display = seen ? '' : 'none';
      if (!seen) return;
      f.e.setAttribute('x', x + '%');
      f.e.setAttribute('width', w + '%');
      f.e.classList.toggle('up', up);
      f.e.setAttribute('tabindex', w * width >= 300 ? 0 : -1);
      if (label && !f.text) f.text = make('text', {x: 3, y: 12.5}, f.e);
      if (f.text) f.text.textContent = label;
    });
  }

  function zoom(f) {
    zoomed = f;
    draw();
    show(f.parent ? f : null);
  }

  // What lies under a match is part of it.
  function search(text) {
    var wanted = null, share = 0, hits = 0;
    try {
      wanted = text ? new RegExp(text, 'i') : null;
    } catch (e) {
      wanted = new RegExp(text.replace(/[^\w\s]/g, '\\$&'), 'i');
    }
    frames.forEach(function (f) {
      var hit = !!wanted && wanted.test(f.label);
      f.e.classList.toggle('hit', hit);
      if (hit) hits++;
      if (hit && !(f.parent && f.parent.under)) share += f.w;
      f.under = hit || !!(f.parent && f.parent.under);
    });
    said.textContent = wanted ? hits + ' match, ' + share.toFixed(1) + ' %' : '';
  }

  function frameOf(event) {
    var e = event.target.closest ? event.target.closest('.b') : null;
    return frames.filter(function (f) { return f.e === e; })[0];
  }

  function page() {
    root.setAttribute('width', '100%');
    root.setAttribute('height', number(root, 'height') + panel);
    box.setAttribute('y', top + panel);
    var holder = make('foreignObject', {x: 8, y: top, width: 170, height: 26}, root);
    input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
    input.setAttribute('placeholder', 'search: name or regex');
    input.setAttribute('aria-label', 'search');
    input.setAttribute('style', 'width: 160px; font: 12px sans-serif');
    holder.appendChild(input);
    said = make('text', {x: 184, y: top + 15, 'class': 'h', 'aria-live': 'polite'}, root);
    for (var i = 0; i < 4; i++)
      details.push(make('text', {x: 8, y: top + 38 + 14 * i, 'class': 'h'}, root));
    frames.forEach(function (f) {
      f.e.setAttribute('role', 'button');
      f.e.setAttribute('aria-label', f.title.join(', '));
    });
  }

  function onKey(event) {
    var f = frameOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      if (input.value) {
        input.value = '';
        search('');
      } else {
        zoom(frames[0]);
      }
      if (event.target === input) frames[0].e.focus();
    } else if (event.key === '/' && event.target !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Enter' && f) {
      zoom(f);
    }
  }

  page();
  zoom(frames[0]);
  input.addEventListener('input', function () { search(input.value); });
  box.addEventListener('click', function (event) {
    var f = frameOf(event);
    if (f) zoom(f);
  });
  ['mouseover', 'focusin'].forEach(function (kind) {
    box.addEventListener(kind, function (event) { show(frameOf(event) || null); });
  });
  box.addEventListener('mouseleave', function () { show(null); });
  document.addEventListener('keydown', onKey);
  window.addEventListener('resize', draw);
})();
