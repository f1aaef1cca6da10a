// SPDX-License-Identifier: MIT
// The page of `aprof serve` in a browser: serve.mjs PACKAGES URL PID TOKEN SHOP. Prints ok and not ok; "step ..." is for the process SHOP.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { browser } from './browser.mjs';

const [packages, url, pid, token, shop] = process.argv.slice(2);
const axe = readFileSync(createRequire(`${packages}/package.json`).resolve('axe-core/axe.min.js'), 'utf8');
const said = (good, name, why) => console.log(good ? `ok ${name}` : `not ok ${name}: ${JSON.stringify(why)}`);

const chromium = await browser(packages);
const context = await chromium.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
page.setDefaultTimeout(60000);
const faults = [];
// While axe looks, the page stands still; on a busy machine for longer than the lease of a question, which it then begins anew.
const leaseOver = (message) => /status of (409|404) /.test(message.text()) && /\/api\/(tail|blame|paths|path|cpu|probe|record)\?/.test(message.location().url);
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !leaseOver(message) && faults.push(`${message.text()} ${message.location().url}`));
page.on('pageerror', (error) => faults.push(String(error)));

// The form, and the way in.
await page.goto(url);
faults.length = 0; // that the form comes with a status of 401 is said there
await page.fill('input[name=token]', token);
await page.click('button');
await page.waitForSelector('#health');
said(true, 'the form lets one in');
said((await context.cookies()).every((cookie) => cookie.httpOnly && cookie.sameSite === 'Strict'), 'the cookie is for no script', await context.cookies());
said(!page.url().includes(token), 'the token is not in the URL', page.url());

// What is shown is chosen, and moves.
const again = async () => {
  const mark = String(Math.random());
  await page.evaluate((text) => { document.querySelector('#page main').dataset.mark = text; }, mark);
  await page.waitForFunction((text) => document.querySelector('#page main').dataset.mark !== text, mark);
};
await page.selectOption('#process', JSON.stringify({ pid: Number(pid) }));
await page.waitForFunction((text) => document.querySelector('h1').textContent.includes(`pid ${text} `), pid);
said(page.url().includes(`pid=${pid}&range=10s`), 'a process is chosen, and stands in the URL', page.url());
await again();
await again();
said(true, 'it is drawn again as it moves');
await page.click('text=since start');
await page.waitForSelector('#functions tbody tr:nth-child(3) .pick');
const name = await page.textContent('#functions tbody tr:nth-child(3) .name');
await page.fill('#filter', name);
// The filter leaves handle_request_12 beside handle_request_1, and which of them stands first changes as it moves.
const whole = new RegExp(`^${name.replace(/[^\w]/g, '\\$&')}$`);
await page.locator('#functions tbody tr').filter({ has: page.locator('.name').filter({ hasText: whole }) }).locator('.pick').click();
await again();
said(await page.inputValue('#filter') === name, 'a filter stays', await page.inputValue('#filter'));
said(await page.textContent('#functions tr.picked .name') === name, 'what was selected stays so', name);
await page.click('text=10 min');
await page.waitForFunction(() => location.search.includes('range=10m'));
said(await page.textContent('.serve [aria-pressed=true]') === '10 min', 'a range is chosen');
await again();
await page.click('text=freeze');
said(await page.textContent('.serve [role=status]') === 'It stands still.', 'it can be frozen');
await page.reload();
await page.waitForSelector('#health');
said(await page.textContent('.serve [aria-pressed=true]') === '10 min', 'a reload shows the same');
await page.evaluate(axe);
const { violations } = await page.evaluate(() => window.axe.run());
said(!violations.length, 'axe finds nothing', violations.map((v) => [v.id, v.nodes[0].html]));

// Why requests are slow: recorded while a panel is open.
const accessible = async (what) => {
  const found = (await page.evaluate(() => window.axe.run())).violations;
  said(!found.length, `axe finds nothing: ${what}`, found.map((v) => [v.id, v.nodes[0].html]));
};
const button = (name) => page.locator('.asked').getByRole('button', { name });
await page.selectOption('#process', JSON.stringify({ pid: Number(shop) }));
await page.locator('#requests .ask').getByRole('button', { name: 'why the slowest are slow' }).click();
await page.waitForFunction(() => /events\/s, 0 lost, all requests; it takes/.test(document.querySelector('.asked .cost').textContent));
said(true, 'a question: what its recording costs is said');
// It is about the last seconds: what happened before them happens again, on a machine that is too slow for that.
async function answers(text) {
  for (let tries = 0; tries < 6; tries++) {
    console.log('step 38 1 1\nstep 2 30 1');
    const came = await page.waitForFunction((wanted) => document.querySelector('.asked .answer').innerText.includes(wanted), text, { timeout: 10000 }).catch(() => null);
    if (came) return true;
  }
  return false;
}
said(await answers('+29.00 of the +29.00 ms: running serve'), 'why the slowest are slow');
const told = await page.locator('.asked .answer').innerText();
said(/\+29\.0 ms/.test(await page.locator('.asked table').innerText()), 'and by which rows', told);
said(/Of the last .* none lost/.test(told), 'and of what', told);
await accessible('an answer');
await button('who made them late').click();
said(await answers('the loop itself'), 'who made them late');
await accessible('who made them late');
await button('each laid out in time').click();
said(await answers('serve 32.0 ms'), 'each laid out in time');
await accessible('the slowest laid out in time');
await page.setViewportSize({ width: 360, height: 900 });
said(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), 'on a phone it scrolls downwards only');
await page.setViewportSize({ width: 1280, height: 900 });
await button('what all of them spend it on').click();
said(await answers('serve: '), 'what all of them spend it on');
await accessible('what all spend it on');
await page.locator('.asked').getByRole('button', { name: 'end it', exact: true }).click();
await page.waitForSelector('.asked', { state: 'hidden' });
console.log('untraced');
await page.locator('#functions .ask').getByRole('button', { name: 'who made them late' }).click();
await page.waitForFunction(() => /serve/.test(document.querySelector('.asked h2').textContent));
said(true, 'from a function: of its requests');
// Of a function: this one's clock is its own, so that the kernel's samples say nothing of it.
await page.locator('#functions .ask').getByRole('button', { name: 'sample it' }).click();
await page.waitForFunction(() => /without samples: its clock is the program's own/.test(document.querySelector('.asked .answer').textContent));
said(true, 'samples: why there are none is said');
await button('probe it').click();
await page.waitForFunction(() => /hits|may not|breakpoint/.test(document.querySelector('.asked .answer').textContent) && /each hit takes its thread/.test(document.querySelector('.asked .cost').textContent));
said(true, 'a probe, with what it costs');
await accessible('a probe');
await page.selectOption('#process', JSON.stringify({ pid: Number(pid) }));
await page.waitForSelector('.asked', { state: 'hidden' });
console.log('untraced');
await page.waitForFunction((text) => document.querySelector('h1').textContent.includes(`pid ${text} `), pid);

// Its end is told.
await page.waitForFunction(() => document.querySelector('.serve [role=status]').textContent === '');
console.log('ending');
await page.waitForFunction(() => /has ended/.test(document.querySelector('.serve [role=status]').textContent));
said(true, 'the end of the process is told');
said(!faults.length, 'nothing is complained of', faults);
await chromium.close();
