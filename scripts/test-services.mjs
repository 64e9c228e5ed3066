// The real servers that tests talk to: how each is found, started for one run and stopped again.
// It never touches a server that the machine already runs, and leaves no data behind.
// A further service is one more module and one more line in the table.

import { findChromium } from './test-chromium.mjs';
import { startMariadb } from './test-mariadb.mjs';
import { startPostgres } from './test-postgres.mjs';
import { findSlapd } from './test-slapd.mjs';

/**
 * `start` gives the address (or, of a program, the path) for the tests and a `stop`, or throws with the reason why the service cannot be had.
 * @type {readonly { name: string, variable: string, start: () => Promise<{ url: string, stop: () => Promise<void> }> }[]}
 */
const services = [
  { name: 'PostgreSQL', variable: 'ROLLCALL_TEST_POSTGRES', start: startPostgres },
  { name: 'MariaDB', variable: 'ROLLCALL_TEST_MARIADB', start: startMariadb },
  { name: 'OpenLDAP', variable: 'ROLLCALL_TEST_SLAPD', start: findSlapd },
  { name: 'Chromium', variable: 'ROLLCALL_TEST_CHROMIUM', start: findChromium },
];

/**
 * Starts every service that the environment does not already name.
 * @returns {Promise<{ env: Record<string, string>, missing: { name: string, reason: string }[], stop: () => Promise<void> }>}
 */
export async function startServices() {
  const env = {};
  const missing = [];
  const running = [];
  for (const { name, variable, start } of services) {
    if (process.env[variable]) continue;
    try {
      const service = await start();
      running.push(service);
      env[variable] = service.url;
    } catch (error) {
      missing.push({ name, reason: error.message });
    }
  }
  return { env, missing, stop: () => stopAll(running) };
}

async function stopAll(running) {
  for (const service of running.splice(0).reverse()) await service.stop();
}
