// The live page in a browser, with a real daemon: what a user does, and what comes of it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { api, clickLink, down, railyard, ready, startBrowser, until, up } from './browser.mjs';
import { execFileSync } from 'node:child_process';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const file = process.env.LAB;
let lab = up(file);
const browser = await startBrowser();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
const page = await context.newPage();
const complaints = [];
// What the daemon refuses on purpose is one, too.
page.on('console', (m) => m.type() === 'error' && !m.text().includes('status of 400') && complaints.push(m.text()));
page.setDefaultTimeout(10_000);
page.on('pageerror', (e) => complaints.push(String(e)));

const linkNamed = async (name) => {
  const { body } = await api(lab, 'GET', '/layout');
  const found = body.links.findIndex((l) => l.a === name || l.b === name);
  assert.ok(found >= 0, name);
  return found;
};
const portIsUp = async (node, port) => {
  const { body } = await api(lab, 'GET', '/status');
  return body.ports.find((p) => p.node === node && p.port === port).up;
};
const seriousFindings = async () => {
  // The page's own policy lets no script in from elsewhere: the check comes by the debugger.
  const found = await page.evaluate(`${axe}; axe.run(document)`);
  return found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} (${n.any[0]?.message ?? ''})`).slice(0, 4).join('; ')}`);
};

const steps = {
  async 'a link is exchanged for a session, and its code is nowhere afterwards'() {
    const began = Date.now();
    await page.goto(lab.link);
    await ready(page);
    console.log(`      first picture after ${Date.now() - began} ms`);
    assert.equal(page.url(), `${lab.base}/`);
    const cookies = await context.cookies();
    assert.equal(cookies.length, 1);
    assert.equal(cookies[0].httpOnly, true);
    assert.equal(cookies[0].sameSite, 'Strict');
    assert.equal(await page.evaluate(() => document.cookie), '');
    const log = execFileSync(railyard, ['logs'], { encoding: 'utf8' });
    assert.ok(!log.includes(lab.token) && !log.includes(new URL(lab.link).hash.slice(6)), 'no secrets in the log');
  },
  async 'it shows that traffic flows'() {
    await until('links carry something', async () => (await page.locator('.tiles b').nth(2).textContent()) !== '0 b/s');
    assert.equal(await page.locator('.tiles b').first().textContent(), '40/40');
  },
  async 'a link is cut with the mouse, shows it, and the API agrees'() {
    const link = await linkNamed('leaf-r1:9');
    await clickLink(page, link);
    await page.locator('.panel-head h2').filter({ hasText: 'leaf-r1:9' }).waitFor();
    const began = Date.now();
    await page.getByRole('button', { name: 'Take down' }).click();
    await page.locator('.panel-head .badge.down').waitFor();
    console.log(`      from click to “down” ${Date.now() - began} ms`);
    assert.equal(await portIsUp('leaf-r1', 9), false);
    await page.screenshot({ path: `${process.env.OUT}/cut.png` });
    // Traffic goes by the other spine.
    const other = await linkNamed('leaf-r1:10');
    await until('the other uplink carries all', async () => {
      const { body } = await api(lab, 'GET', `/history?of=leaf-r1:10`);
      return body.out.at(-1) > 0;
    }).catch((e) => { throw new Error(`${e.message}: link ${other}`); });
  },
  async 'what was done is listed with its command, and undone'() {
    await page.getByRole('tab', { name: 'Done' }).click();
    await page.getByText('railyard link down leaf-r1:9 --lab page').first().waitFor();
    await page.getByRole('button', { name: 'Copy as railyard command' }).first().click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'railyard link down leaf-r1:9 --lab page');
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await until('the link is up', () => portIsUp('leaf-r1', 9));
  },
  async 'a fault by form, and its undo'() {
    await clickLink(page, await linkNamed('leaf-r2:1'));
    await page.getByRole('button', { name: 'Inject a fault' }).click();
    await page.getByLabel('Fault', { exact: true }).selectOption('loss');
    await page.getByLabel('probability', { exact: true }).first().fill('20%');
    await page.getByText("railyard fault add 'on:").waitFor();
    await page.getByRole('button', { name: 'Inject', exact: true }).click();
    await page.locator('.panel-head .badge.degraded').waitFor();
    const { body } = await api(lab, 'GET', '/faults');
    assert.equal(body.faults.at(-1).what, 'loss');
    assert.equal(body.faults.at(-1).active, true);
    await page.screenshot({ path: `${process.env.OUT}/fault.png` });
    await page.getByRole('tab', { name: 'Faults' }).click();
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await until('the fault is gone', async () => (await api(lab, 'GET', '/faults')).body.faults.at(-1).removed);
    await page.locator('.list .badge.gone').first().waitFor();
  },
  async 'what the daemon refuses is said'() {
    await clickLink(page, await linkNamed('leaf-r2:1'));
    await page.getByRole('button', { name: 'Inject a fault' }).click();
    await page.getByLabel('On', { exact: true }).fill('leaf-r9:1');
    await page.getByRole('button', { name: 'Inject', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'leaf-r9' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
  },
  async 'a switch is drained, and takes traffic again'() {
    await page.getByLabel('Search for a node').fill('spine1');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.locator('.panel-head .badge.drained').waitFor();
    await page.getByRole('button', { name: 'Undrain' }).click();
    await page.locator('.panel-head .badge.up').waitFor();
  },
  async 'a threshold is moved with its slider'() {
    await page.getByRole('tab', { name: 'Settings' }).click();
    const slider = page.getByRole('slider', { name: 'kmin' }).first();
    await slider.focus();
    await page.keyboard.press('Home');
    const path = 'qos.default.classes.3.ecn.kmin';
    await until('kmin is set', async () => (await api(lab, 'GET', `/settings/${path}`)).body.settings[0].value === '10KB');
    await page.getByText(`railyard set ${path}=10KB`).first().waitFor();
    await page.waitForTimeout(300); // and stays, when the page has asked what is set now
    assert.equal(await page.getByRole('slider', { name: 'kmin' }).first().getAttribute('aria-valuetext'), '10 kB');
    const rate = page.getByLabel('traffic.rails.rate');
    await rate.fill('fast');
    await rate.press('Enter');
    await page.getByText('traffic.rails.rate').filter({ hasText: 'fast' }).first().waitFor();
    await rate.fill('170Gbps');
    await rate.press('Enter');
    await until('the rate is set', async () => (await api(lab, 'GET', '/settings/traffic.rails.rate')).body.settings[0].value === '170Gbps');
  },
  async 'everything is reached by the keyboard'() {
    await page.getByRole('application', { name: 'Fabric' }).focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const first = await page.locator('.panel-head h2').textContent();
    await page.keyboard.press('ArrowRight');
    assert.notEqual(await page.locator('.panel-head h2').textContent(), first);
    await page.keyboard.press('+');
    await page.keyboard.press('0');
    await page.getByRole('tab', { name: 'Selected' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getByRole('tab', { name: 'Links' }).getAttribute('aria-selected'), 'true');
  },
  async 'the past is looked at, and the present again'() {
    await until('some seconds are kept', async () => (await api(lab, 'GET', '/history')).body.t.length >= 3);
    const slider = page.getByLabel('Look back');
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Back to now' }).click();
    assert.equal(await page.locator('.scrub output').textContent(), 'now');
    await page.getByRole('button', { name: 'Pause charts' }).click();
    await page.getByRole('button', { name: 'Follow' }).click();
  },
  async 'axe has no serious findings, dark and light, in every tab'() {
    for (const theme of ['dark', 'light']) {
      for (const tab of ['Selected', 'Links', 'Faults', 'Flows', 'Settings', 'Done', 'Log']) {
        await page.getByRole('tab', { name: tab }).click();
        assert.deepEqual(await seriousFindings(), [], `${theme}, ${tab}`);
      }
      await page.getByRole('button', { name: /Switch to/ }).click();
    }
  },
  async 'frames come quickly'() {
    const before = await page.evaluate(() => globalThis.railyardFrames.painted);
    await page.waitForTimeout(1000);
    const painted = (await page.evaluate(() => globalThis.railyardFrames.painted)) - before;
    console.log(`      ${painted} frames in a second`);
    assert.ok(painted >= 10, 'it moves');
  },
  async 'a phone shows, and changes nothing'() {
    const phone = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const small = await phone.newPage();
    await small.goto(execFileSync(railyard, ['web'], { encoding: 'utf8' }).match(/http:\/\/\S+/)[0]);
    await ready(small);
    assert.equal(await small.evaluate(() => document.documentElement.scrollWidth), 390);
    await small.getByRole('tab', { name: 'Links' }).click();
    await small.locator('td button').first().click();
    assert.equal(await small.getByRole('button', { name: 'Take down' }).count(), 0);
    await small.screenshot({ path: `${process.env.OUT}/phone.png`, fullPage: true });
    await phone.close();
  },
  async 'a used link, a wrong token and other pages are refused'() {
    const other = await browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(lab.link);
    await stranger.getByText('has been used before').waitFor();
    await stranger.getByLabel('Token').fill('0123');
    await stranger.getByRole('button', { name: 'Open the lab' }).click();
    await stranger.getByRole('alert').filter({ hasText: 'the token is wrong' }).waitFor();
    await stranger.getByLabel('Token').fill(lab.token);
    await stranger.getByRole('button', { name: 'Open the lab' }).click();
    await ready(stranger);
    await other.close();
    for (const [headers, status] of [
      [{ Authorization: 'Bearer wrong' }, 401], [{}, 401],
      [{ Authorization: `Bearer ${lab.token}`, Origin: 'http://evil.example' }, 403],
    ]) {
      const answer = await fetch(`${lab.base}/v1/hold`, { method: 'POST', headers, body: '{"on": true}' });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    }
    const rebound = execFileSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Host: evil.example', `${lab.base}/`], { encoding: 'utf8' });
    assert.equal(rebound, '403');
  },
  async 'a daemon that is killed shows at once, and one that is started anew asks for a link'() {
    assert.deepEqual(complaints, [], 'no errors in the console so far');
    const { body } = await api(lab, 'GET', '/lab');
    process.kill(body.pid, 'SIGKILL');
    await page.getByRole('alert').filter({ hasText: 'connection to the daemon broke off' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'The daemon is gone' }).waitFor({ timeout: 15000 });
    await page.screenshot({ path: `${process.env.OUT}/gone.png` });
    down();
    const before = new URL(lab.base).port;
    lab = up(file, '--listen', `127.0.0.1:${before}`);
    await page.getByText('The lab was started anew').waitFor({ timeout: 15000 });
    await page.goto(lab.link);
    await ready(page);
  },
};

let failed = 0;
const only = process.argv[2];
for (const [name, step] of Object.entries(steps)) {
  if (only && !name.includes(only) && name !== Object.keys(steps)[0]) continue;
  const began = Date.now();
  try {
    await step();
    console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (e) {
    ++failed;
    console.log(`FAIL  ${name}\n${e.stack ?? e}`);
    await page.screenshot({ path: `${process.env.OUT}/failed-${failed}.png` }).catch(() => undefined);
  }
}
await browser.close();
down();
process.exit(failed ? 1 : 0);
