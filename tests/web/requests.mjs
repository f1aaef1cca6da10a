// SPDX-License-Identifier: MIT
// Requests on the page: requests.mjs PACKAGES DIR URL. In DIR are page.html, all.page that it draws, and
// get.page, that of one kind; at URL the same totals are served. Prints "ok ..." and "not ok ...".
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser, cells, open } from './browser.mjs';
import { count, percent, time } from '../../web/format.js';

const [packages, dir, url] = process.argv.slice(2);
const axe = readFileSync(createRequire(`${packages}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const load = (name) => JSON.parse(readFileSync(`${dir}/${name}`, 'utf8'));
const chromium = await browser(packages);

function equal(name, expected, found) {
  const [a, b] = [expected, found].map((value) => JSON.stringify(value));
  console.log(a === b ? `ok ${name}` : `not ok ${name}\n    expected: ${a}\n    found:    ${b}`);
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  equal(`${name}: axe-core finds nothing`, [], violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))]));
}
const row = (page, name) => page.locator('.kinds tbody tr').filter({ has: page.locator('.name', { hasText: name }) });

// -- a file ----------------------------------------------------------------------------------

async function file() {
  const { requests } = load('all.page');
  const { page, faults, close } = await open(chromium, `${dir}/page.html`);
  const rows = new Map((await cells(page, '.kinds tbody tr')).map((one) => [one[0].split('\n')[0], one]));
  equal('a row for each kind', requests.map((k) => k.name).sort(), [...rows.keys()].sort());
  for (const k of requests) {
    equal(`${k.name}: count, p50, p99, wall, and its parts`,
      [count(k.count), time(k.wall?.p50), time(k.wall?.p99), time(k.wall_mean_ns), ...['queued_ns', 'exec_ns', 'waiting_ns'].map((name) => time(k[name] / k.count))],
      [1, 5, 6, 7, 8, 9, 10].map((i) => rows.get(k.name)[i]));
    const bar = await row(page, k.name).first().locator('.states').getAttribute('aria-label');
    equal(`${k.name}: the bar says its states`, ['queued', 'exec', 'waiting'].map((state) => percent(k.member_ns ? k[`${state}_ns`] / k.member_ns : null)), bar.match(/[\d.-]+( %)?$|[\d.]+ %/g));
  }
  const upload = requests.find((k) => k.kind === 'POST /upload');
  await row(page, 'POST /upload').locator('.pick').click();
  equal('a picked kind shows all about it', 'POST /upload', await page.locator('#requests .detail h3').innerText());
  const tiers = await cells(page, '#requests .detail .scroll[aria-label^="Tiers"] tbody tr');
  equal('its tiers', upload.tiers.map((t) => [t.tier, percent(t.share), count(t.count), count(t.calls)]), tiers.map((one) => one.slice(0, 4)));
  const slow = await cells(page, '#requests .detail .scroll[aria-label^="The slowest"] tbody tr');
  equal('its slowest', upload.slowest.slice(0, slow.length).map((s) => [s.began_at.slice(11, 23), time(s.wall_ns)]), slow.map((one) => one.slice(0, 2)));
  equal('nothing to choose where nobody serves', 0, await page.getByText('all of the page for this kind').count());
  for (const [width, name] of [[360, 'phone'], [1280, 'desk']]) {
    await page.setViewportSize({ width, height: 900 });
    equal(`${name}: the page scrolls downwards only`, true, await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth));
  }
  await accessible(page, 'requests');
  equal('nothing goes wrong', [], faults);
  await close();
}

// -- served ------------------------------------------------------------------------------------

async function served() {
  const { page, faults, close } = await open(chromium, `${url}?range=start`);
  page.setDefaultTimeout(60000);
  faults.length = 0; // it asks its server
  const totals = load('get.page');
  const created = () => page.locator('.facts.head dd').allInnerTexts();
  await page.waitForSelector('#kind:visible');
  equal('kinds to choose from', ['all', 'GET /item', 'POST /upload', 'save_upload'], await page.locator('#kind option').allInnerTexts());
  const charts = await page.locator('#history figure').count();
  equal('what went on over the range', true, charts > 0 && (await page.locator('#history figcaption').allInnerTexts()).some((text) => text.startsWith('Requests per second')));
  await page.selectOption('#kind', 'GET /item');
  await page.waitForFunction(() => document.querySelector('.facts.head').textContent.includes('requests' + 'GET /item'));
  equal('a chosen kind stands in the URL', 'GET /item', new URL(page.url()).searchParams.get('kind'));
  equal('and is said', 'GET /item', (await created())[0]);
  equal('functions are of it', totals.functions.filter((f) => f.created).map((f) => f.name),
    (await cells(page, '.rows tbody tr')).map((one) => one[0].split(/\s/)[0]));
  const wide = totals.paths.rows.reduce((sum, one) => sum + one[5], 0);
  await page.getByRole('group', { name: 'Width is' }).getByRole('button', { name: 'exec' }).click();
  equal('and so is the flame graph', time(wide), (await page.locator('.flame-details').innerText()).split(': ').at(-1));
  equal('the kind is picked in the table of all', 'GET /item', await page.locator('.kinds tr.picked .name').innerText());
  await page.reload();
  await page.waitForFunction(() => document.querySelector('.facts.head')?.textContent.includes('requests' + 'GET /item'));
  equal('a reload shows the same', 'GET /item', await page.locator('#kind').inputValue());
  await page.selectOption('#kind', '');
  await page.waitForFunction(() => !document.querySelector('.facts.head').textContent.includes('requests'));
  equal('and back to all', null, new URL(page.url()).searchParams.get('kind'));
  await page.locator('.kinds .pick').first().click();
  await page.getByText('all of the page for this kind').click();
  await page.waitForFunction(() => location.search.includes('kind='));
  await accessible(page, 'served');
  await close();
}

for (const part of [file, served])
  try {
    await part();
  } catch (error) {
    console.log(`not ok ${part.name}\n${String(error.stack).replace(/^/gm, '    ')}`);
  }
await chromium.close();
