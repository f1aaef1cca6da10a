// SPDX-License-Identifier: MIT
// Opens pages and tries them: page.mjs PACKAGES DIR. In DIR are NAME.html, and NAME.json that it was
// made of. Prints "ok ..." and "not ok ...".
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser, cells, open } from './browser.mjs';
import { count, percent, time } from '../../web/format.js';

const [packages, dir] = process.argv.slice(2);
const axe = readFileSync(createRequire(`${packages}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const chromium = await browser(packages);

const indent = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 1)).replace(/^/gm, '    ');
function equal(name, expected, found) {
  const [a, b] = [expected, found].map((value) => JSON.stringify(value));
  console.log(a === b ? `ok ${name}` : `not ok ${name}\n${indent(`expected: ${a}\nfound:    ${b}`)}`);
}

const text = (page, selector) => page.locator(selector).first().innerText();

async function accessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  equal(`${name}: axe-core finds nothing`, [], violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]));
}

const narrow = (page) => page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth);

/** What totals say of a measure, as tests/cli/flame-test.sh has it. */
function sums(totals) {
  const of = (rows, member) => rows.reduce((sum, row) => sum + (row[member] ?? 0), 0);
  const waits = totals.tree.filter((p) => p.waits_for === 'outside');
  const [exec, queued, waiting] = [of(totals.functions, 'exec_ns'), of(totals.functions, 'queued_ns'), of(waits, 'all_ns')];
  return { exec, queued, waiting, wall: exec + queued + waiting };
}

const load = (name) => JSON.parse(readFileSync(`${dir}/${name}.json`, 'utf8'));

// -- the numbers ---------------------------------------------------------------------------

async function numbers() {
  const totals = load('a');
  const { page, faults, close } = await open(chromium, `${dir}/a.html`);
  const active = totals.functions.filter((f) => f.created || f.exec_ns || f.waiting_ns || f.queued_ns || f.slices || f.live);
  await page.getByLabel('code of libraries').check();
  await page.getByRole('button', { name: 'in total' }).click();
  const rows = new Map((await cells(page, '.rows tbody tr')).map((row) => [row[0].split(/\s/)[0], row]));
  for (const f of active)
    equal(`${f.name}: futures, live, runs, queued, exec, waits and wall are the totals'`,
      [count(f.created), count(f.live), count(f.slices), time(f.queued_ns), time(f.exec_ns), time(f.waiting_ns), time(f.wall_ns)],
      [1, 2, 3, 7, 8, 9, 10].map((i) => rows.get(f.name)?.[i]));
  for (const f of active.filter((one) => one.created && one.created < 1000 && !one.unseen)) {
    await page.locator('.rows .pick').filter({ hasText: f.name }).first().click();
    const makers = page.getByRole('group', { name: 'Who makes it' }).locator('tbody tr');
    equal(`${f.name}: its futures, by who makes them, are all`, f.created, (await cells(page, makers)).reduce((sum, row) => sum + Number(row[1]), 0));
  }
  const all = sums(totals);
  for (const measure of ['exec', 'waiting', 'queued', 'wall']) {
    await page.getByRole('group', { name: 'Width is' }).getByRole('button', { name: measure }).click();
    const said = await text(page, '.flame-details');
    equal(`flame graph, ${measure}: as wide as totals say`, time(all[measure]), said.split(': ').at(-1));
    if (all[measure])
      equal(`flame graph, ${measure}: its topmost box, too`, `${time(all[measure])}, ${percent(1)} of all`,
        (await page.locator('.flame g title').first().textContent()).split(' · ')[0].split(': ').at(-1));
  }
  const directory = await page.evaluate(() => JSON.parse(document.getElementById('document').textContent).directory);
  equal('each finding has its sentence', totals.findings.map((f) => f.text.replaceAll('`', '').replaceAll(directory, '')).sort(),
    (await page.locator('#findings .finding > p').evaluateAll((ps) => ps.map((p) => [...p.childNodes].slice(2).map((n) => n.textContent).join('')))).sort());
  equal('nothing goes wrong', [], faults);
  await close();
}

// -- by hand -------------------------------------------------------------------------------

async function keyboard() {
  const totals = load('a');
  const { page, faults, close } = await open(chromium, `${dir}/a.html`);
  const busy = [...totals.functions].sort((a, b) => (b.exec_ns ?? 0) - (a.exec_ns ?? 0))[0].name;
  await page.keyboard.press('/');
  await page.keyboard.type(busy);
  const names = (await cells(page, '.rows tbody tr')).map((row) => row[0].split(/\s/)[0]);
  equal('/ filters functions', true, names.length > 0 && names.every((name) => name.includes(busy)));
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  const pick = page.locator('.rows .pick');
  await pick.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  equal('arrows and Enter pick a function', await pick.nth(1).locator('.name').innerText(), await text(page, '.detail h3'));
  await page.getByRole('columnheader', { name: 'Function' }).first().getByRole('button').click();
  const sorted = (await cells(page, '.rows tbody tr')).map((row) => row[0].split(/\s/)[0]);
  equal('a head sorts', [...sorted].sort((a, b) => a.localeCompare(b)), sorted);
  await page.locator('body').click({ position: { x: 1, y: 1 } });
  await page.keyboard.press('g');
  await page.keyboard.press('ArrowDown');
  const box = await page.locator('.flame g.focus').getAttribute('name');
  await page.keyboard.press('Enter');
  equal('Enter zooms: what is above fades', 1, await page.locator('.flame g.fade').count());
  equal('and the box is as wide as the graph', true, await page.evaluate((name) => {
    const [frame] = [...document.querySelectorAll('.flame g.frame:not(.fade)')].filter((g) => g.getAttribute('name') === name);
    return Number(frame.getAttribute('width')) > document.querySelector('.flame').clientWidth - 1;
  }, box));
  await page.setViewportSize({ width: 900, height: 900 });
  await page.waitForFunction(() => document.querySelector('.flame svg').clientWidth < 900);
  equal('drawn again it stays zoomed', 1, await page.locator('.flame g.fade').count());
  await page.locator('#flame-box').focus();
  await page.keyboard.press('Escape');
  equal('Escape comes back', 0, await page.locator('.flame g.fade').count());
  await page.locator('#search').fill(box.replace(/[^a-z_]/g, '.'));
  equal('search marks boxes', true, (await page.locator('.flame g.hit').count()) > 0);
  await page.locator('#search').fill('(');
  equal('half an expression does no harm', 0, await page.locator('.flame g.hit').count());
  const place = page.locator('#findings button.place').first();
  await place.click();
  equal('a place leads to its line', await place.innerText(), await page.evaluate(() => {
    const row = document.querySelector('tr.here');
    return `${row.closest('details').dataset.file}:${row.querySelector('.number').textContent}`;
  }));
  await page.getByRole('button', { name: 'Switch between dark and light' }).click();
  equal('a switch makes it dark', 'dark', await page.evaluate(() => document.documentElement.dataset.theme));
  equal('nothing goes wrong by hand', [], faults);
  await close();
}

// -- looks ---------------------------------------------------------------------------------

async function looks() {
  for (const width of [360, 1280])
    for (const dark of [false, true]) {
      const name = `${width} px, ${dark ? 'dark' : 'light'}`;
      const { page, faults, close } = await open(chromium, `${dir}/a.html`, { width, dark });
      equal(`${name}: the page scrolls downwards only`, true, await narrow(page));
      for (const details of await page.locator('details > summary').all()) await details.click();
      equal(`${name}: all unfolded, too`, true, await narrow(page));
      await accessible(page, name);
      equal(`${name}: nothing goes wrong`, [], faults);
      await close();
    }
}

// -- others --------------------------------------------------------------------------------

async function hostile() {
  const { page, faults, close } = await open(chromium, `${dir}/bad.html`);
  const bad = load('bad');
  equal('hostile names: nothing runs, and nothing is asked for', [], faults);
  equal('hostile names: two scripts, the data and ours', 2, await page.locator('script').count());
  equal('hostile names: they are texts', true, (await page.locator('.rows .name').allTextContents()).includes(bad.functions[0].name));
  equal('hostile names: so is the title', true, (await page.title()).startsWith(bad.process.name));
  equal('hostile names: no wider', true, await narrow(page));
  equal('its own policy lets no other script run', undefined, await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.ran = true">');
    return window.ran;
  }));
  equal('nor any other style', 'static', await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<p id="probe" style="position: fixed">x</p>');
    return getComputedStyle(document.getElementById('probe')).position;
  }));
  await close();
}

async function nothing() {
  const { page, faults, close } = await open(chromium, `${dir}/none.html`);
  equal('nothing measured: nothing goes wrong', [], faults);
  equal('nothing measured: it says so', true, (await text(page, '#flame')).includes('Nothing was measured'));
  await accessible(page, 'nothing measured');
  await close();
}

async function many() {
  const start = performance.now();
  const { page, faults, close } = await open(chromium, `${dir}/many.html`);
  await page.waitForSelector('.flame g');
  const took = performance.now() - start;
  console.log(`ok 20 000 paths: open in ${(took / 1000).toFixed(1)} s, ${(readFileSync(`${dir}/many.html`).length / 1e6).toFixed(1)} MB`);
  equal('20 000 paths: as wide as totals say', time(sums(load('many')).wall), (await text(page, '.flame-details')).split(': ').at(-1));
  equal('20 000 paths: nothing goes wrong', [], faults);
  await close();
}

for (const part of [numbers, keyboard, looks, hostile, nothing, many])
  try {
    await part();
  } catch (error) {
    console.log(`not ok ${part.name}\n${indent(String(error.stack))}`);
  }
await chromium.close();
