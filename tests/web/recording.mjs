// SPDX-License-Identifier: MIT
// The page of a recording: recording.mjs PACKAGES DIR. In DIR are shop.html and cpu.html, and the
// documents that they draw, shop.page and cpu.page. Prints "ok ..." and "not ok ...".
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser, cells, open } from './browser.mjs';
import { count, percent, time } from '../../web/format.js';

const [packages, dir] = process.argv.slice(2);
const axe = readFileSync(createRequire(`${packages}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const load = (name) => JSON.parse(readFileSync(`${dir}/${name}`, 'utf8'));
const chromium = await browser(packages);

function equal(name, expected, found) {
  const [a, b] = [expected, found].map((value) => JSON.stringify(value));
  console.log(a === b ? `ok ${name}` : `not ok ${name}\n    expected: ${a}\n    found:    ${b}`);
}

const change = (ns) => (ns < 0 ? `-${time(-ns)}` : `+${time(ns)}`);
const answer = (page) => page.locator('#answers .answer details').first();
const ask = (page, name) => page.getByRole('group', { name: 'Question' }).getByRole('button', { name }).click();

async function accessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  equal(`${name}: axe-core finds nothing`, [], violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]));
}

// -- answers ---------------------------------------------------------------------------------

async function answers() {
  const { answers: all, requests, recording } = load('shop.page');
  const { page, faults, close } = await open(chromium, `${dir}/shop.html`);
  const [k] = requests;
  const [row] = await cells(page, '.kinds tbody tr');
  equal('requests: count, p50, p99 and wall', [count(k.count), time(k.wall.p50), time(k.wall.p99), time(k.wall_mean_ns)], [1, 4, 5, 6].map((i) => row[i]));
  equal('the head says what is lost', true, (await page.locator('.facts.head').innerText()).includes(`lost\n${recording.lost || 'nothing'}`));
  const [slow] = all.tail.kinds;
  equal('tail: its sentence', slow.cause.text.replaceAll('`', ''), (await answer(page).locator('summary').innerText()).trim());
  equal('tail: its numbers', slow.rows.slice(0, 12).map((r) => [time(r.others.mean_ns), time(r.slow.mean_ns), change(r.more_ns)]),
    (await cells(page, '#answers details:first-of-type tbody tr')).map((one) => one.slice(1)));
  await ask(page, 'who made them late');
  equal('blame: its numbers', all.blame.behind.slice(0, 12).map((r) => time(r.time_ns)), (await cells(page, '#answers details tbody tr')).map((one) => one[1]));
  await ask(page, 'what all of them spend it on');
  const [path] = all.path.kinds;
  equal('path: its numbers', path.rows.slice(0, 12).map((r) => [time(r.time_ns), percent(r.time_ns / path.wall_ns)]),
    (await cells(page, '#answers details:first-of-type tbody tr')).map((one) => one.slice(1, 3)));
  await ask(page, 'each laid out in time');
  const [one] = all.paths.slowest;
  equal('slow: one for each', all.paths.slowest.length, await page.locator('#answers details').count());
  equal('slow: the first is open, with its time line', `${one.path.length} ${one.path.length}`,
    `${await answer(page).locator('.states.line span').count()} ${await answer(page).locator('tbody tr').count()}`);
  equal('slow: pieces are all of its wall', one.wall_ns, one.path.reduce((sum, piece) => sum + piece.time_ns, 0));
  equal('nothing says null or undefined', false, /\b(null|undefined|NaN)\b/.test(await page.locator('body').innerText()));
  await accessible(page, 'light');
  await page.getByRole('button', { name: 'Switch between dark and light' }).click();
  await accessible(page, 'dark');
  equal('no complaint', [], faults);
  await close();
}

async function phone() {
  const { page, faults, close } = await open(chromium, `${dir}/shop.html`, { width: 360, height: 720 });
  equal('360 px: nothing is wider than the screen', true, await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth));
  equal('360 px: no complaint', [], faults);
  await close();
}

// -- samples -----------------------------------------------------------------------------------

async function samples() {
  const { samples: all, paths } = load('cpu.page');
  const { page, faults, close } = await open(chromium, `${dir}/cpu.html`);
  const button = page.getByRole('group', { name: 'Width is' }).getByRole('button', { name: 'cpu' });
  equal('the flame graph is of samples where there are any', all ? 1 : 0, await button.count());
  if (all) {
    await button.click();
    const sum = paths.rows.reduce((whole, row) => whole + row[paths.columns.indexOf('cpu_ns')], 0);
    equal('as wide as all samples', time(sum), (await page.locator('.flame-details').innerText()).split(': ').at(-1));
    await page.fill('#search', '^burn$');
    const inside = paths.rows.map((row) => row[3] === 'burn');
    paths.rows.forEach((row, i) => { if (row[0] !== null && inside[row[0]]) inside[i] = true; });
    const burnt = paths.rows.reduce((whole, row, i) => whole + (inside[i] ? row[11] : 0), 0);
    equal('a native function has what its samples have', percent(burnt / sum), (await page.locator('.flame-details').innerText()).split(', ').at(-1).replace(' of all', ''));
    await accessible(page, 'samples');
  }
  equal('samples: no complaint', [], faults);
  await close();
}

await answers();
await phone();
await samples();
await chromium.close();
