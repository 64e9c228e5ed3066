// npm test: installs what is missing, starts the servers that tests need, runs every check and counts.
// It never stops at the first failure, and its last line is always "N passed, N failed".
// With arguments (npm test -- test/storage) it runs only those tests, with the same servers.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { bun, installDependencies, root } from './install.mjs';
import { startServices } from './test-services.mjs';

const checkMsMax = 60 * 60_000;
const tailCharactersMax = 4_000;
const ci = process.env.CI === 'true' || process.env.CI === '1';
const only = process.argv.slice(2);

const lint = { name: 'format and lint', args: ['run', 'lint'] };
const types = { name: 'types', args: ['run', 'types'] };
const build = { name: 'build', args: ['scripts/build.ts'] };
/** Only for a test that hangs: a slow machine must not fail one. Bun takes it on the command line alone. */
const hangingMs = 120_000;
const tests = { name: 'tests', args: ['test', '--timeout', String(hangingMs), ...only], count: countTests };

const outcomes = [];
let interruptedBy;
let current;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interruptedBy = signal;
    current?.kill(signal);
  });
}

try {
  installDependencies();
  await runChecks();
} catch (error) {
  console.error(error.message);
  outcomes.push({ name: 'set-up', passed: 0, failed: 1, skipped: 0 });
}
finish();

async function runChecks() {
  for (const check of only.length > 0 ? [build] : [lint, types, build]) await runCheck(check, {});
  if (interruptedBy !== undefined) return;
  const services = await startServices();
  try {
    for (const { name, reason } of services.missing) reportMissing(name, reason);
    await runCheck(tests, services.env);
  } finally {
    await services.stop();
  }
}

async function runCheck({ name, args, count = countOne }, env) {
  if (interruptedBy !== undefined) return;
  console.log(`\n── ${name} ──`);
  const { code, tail } = await runBun(args, env);
  outcomes.push({ name, ...count(code === 0, tail) });
}

/** Runs Bun with its output shown as it comes, and keeps the end of it for counting. */
function runBun(args, env) {
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const options = {
    cwd: root,
    env: { ...process.env, ...color, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
    timeout: checkMsMax,
  };
  const child = spawn(bun, args, options);
  current = child;
  return new Promise((resolve) => {
    let tail = '';
    child.stderr.on('data', (chunk) => {
      process.stderr.write(chunk);
      tail = `${tail}${chunk}`.slice(-tailCharactersMax);
    });
    child.on('error', (error) => resolve({ code: 1, tail: error.message }));
    child.on('close', (code) => resolve({ code, tail }));
  });
}

function countOne(succeeded) {
  return { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, skipped: 0 };
}

/** Reads Bun's closing lines: its JUnit report leaves out a file that fails while it is loaded. */
function countTests(succeeded, tail) {
  const lines = tail.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '').split('\n');
  const number = (word) =>
    Number(lines.map((line) => line.match(`^ *(\\d+) ${word}$`)?.[1]).findLast(Boolean) ?? 0);
  const [passed, failed, skipped] = [number('pass'), number('fail'), number('skip') + number('todo')];
  const nothingRan = passed + failed === 0;
  return { passed, failed: failed === 0 && (!succeeded || nothingRan) ? 1 : failed, skipped };
}

/** A missing server is a gap that a person should see, and a failure where nobody looks. */
function reportMissing(name, reason) {
  const line = '!'.repeat(100);
  console.error(`\n${line}\n${name} COULD NOT BE STARTED, so nothing is tested on it.\n${reason}\n${line}`);
  if (ci) outcomes.push({ name, passed: 0, failed: 1, skipped: 0 });
}

function finish() {
  const sum = (key) => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const text = ({ passed, failed, skipped }) =>
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  console.log('');
  for (const outcome of outcomes) console.log(`${outcome.name.padEnd(20)} ${text(outcome)}`);
  if (interruptedBy !== undefined) console.log(`Stopped by ${interruptedBy}; the checks are not complete.`);
  const total = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
  console.log(`\n${text(total)}`);
  process.exitCode =
    interruptedBy !== undefined ? 128 + constants.signals[interruptedBy] : total.failed > 0 ? 1 : 0;
}
