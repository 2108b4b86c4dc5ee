// A browser for tests and screenshots, and the lab's daemon beside it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const railyard = process.env.RAILYARD;

// In milliseconds: how long what must happen may take on a machine that has much else to do.
export const kPatience = 120_000;

export async function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', `--disk-cache-dir=${mkdtempSync(join(tmpdir(), 'railyard-cache-'))}`],
  });
}

export async function newContext(browser, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(kPatience);
  return context;
}

export function run(...args) {
  return execFileSync(railyard, args, { encoding: 'utf8' });
}

// Starts the lab; answers with the link to its page, its address and its token.
export function up(file, ...more) {
  const said = run('up', file, '--web', '--detach', ...more);
  const link = said.match(/http:\/\/\S+#code=\S+/)[0];
  return { link, base: new URL(link).origin, token: said.match(/Token for programs: (\S+)/)[1] };
}

export const down = () => spawnSync(railyard, ['down', '--all'], { stdio: 'ignore' });

export async function api(lab, method, target, body) {
  const answer = await fetch(`${lab.base}/v1${target}`, {
    method,
    headers: { Authorization: `Bearer ${lab.token}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

// Looks again and again until it is so.
export async function until(what, so, patience = kPatience) {
  const end = Date.now() + patience;
  for (;;) {
    if (await so()) return;
    if (Date.now() > end) throw new Error(`in ${patience / 1000} s not so: ${what}`);
    await new Promise((again) => setTimeout(again, 50));
  }
}

// Waits for the fabric and the first sample.
export async function ready(page) {
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await page.waitForFunction(() => globalThis.railyardFrames?.painted > 3);
}

// Clicks on a link in the picture.
export async function clickLink(page, link) {
  const at = await page.evaluate((l) => globalThis.railyardWhere(l), link);
  await page.mouse.click(at.x, at.y);
}
