// A database server for one run of the tests: started on a free port of the machine itself, ended with its folder.
// It stops only what it started. How a server is found and set up is told by the module of each.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

const startMsMax = 60_000;
const stopMsMax = 15_000;
const logCharactersMax = 4_000;

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Starts the server in a process group of its own, so that Ctrl-C reaches it only through `stopServer`, and waits until it
 * writes `readyText` on standard error. Throws with the end of what it wrote.
 * @param {{ name: string, command: string, args: readonly string[], folder: string, env: object, readyText: string }} server
 */
export function startServer({ name, command, args, folder, env, readyText }) {
  const options = { cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'], env };
  const server = spawn(command, args, options);
  return new Promise((resolve, reject) => {
    let log = '';
    const fail = (reason) => {
      clearTimeout(timer);
      server.kill('SIGKILL');
      reject(new Error(`${name} ${reason}. ${log.trim()}`));
    };
    const timer = setTimeout(() => fail(`was not ready after ${startMsMax} ms`), startMsMax);
    server.once('error', (error) => fail(`cannot be started: ${error.message}`));
    server.once('exit', (code) => fail(`stopped with exit code ${code}`));
    server.stderr.on('data', (chunk) => {
      log = `${log}${chunk}`.slice(-logCharactersMax);
      if (!log.includes(readyText)) return;
      clearTimeout(timer);
      server.removeAllListeners('exit');
      server.stderr.removeAllListeners('data').resume();
      resolve(server);
    });
  });
}

/** Asks the server to end by the signal `soft`, and ends it by `hard` when that takes too long; then the folder goes. */
export async function stopServer(server, folder, { soft, hard }) {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    const timer = setTimeout(() => server.kill(hard), stopMsMax);
    server.kill(soft);
    await ended;
    clearTimeout(timer);
  }
  rmSync(folder, { recursive: true, force: true });
}
