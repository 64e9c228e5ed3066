// The life of the processor process: opens the database, takes turns to write from the server that started it, imports
// what is queued, and ends when it is told to or when the server is gone. It listens on no port.

import { DocumentStore } from '../archive/archive.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/options.ts';
import { Processor } from '../imports/processor.ts';
import { createLog } from '../log.ts';
import { PasswordHasher } from '../security/password-hash.ts';
import { isTurnMessage, TurnBorrower } from '../storage/write-turn.ts';
import { openServices } from './services.ts';
import { exitStorageFailed } from './storage-failed.ts';

/** Imports until the server says stop or goes away; resolves with the exit status. */
export async function processor(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel }).child({ processor: process.pid });
  const send = process.send?.bind(process);
  const borrower = send && new TurnBorrower({ send: (message) => void send(message) });
  const services = await openServices(config, {
    ...(borrower === undefined ? {} : { takeTurn: borrower.take }),
    onConnectionError: (error) => log.warn({ err: error }, 'a connection to the database was lost'),
    onFatal: (error) => {
      log.error({ err: error }, 'the storage has failed; the processor stops');
      process.exit(exitStorageFailed);
    },
  });
  const { database, configurations, secretBox } = services;
  const importer = new Processor({
    database,
    documents: new DocumentStore(config.data),
    configurations,
    hasher: new PasswordHasher(),
    secretBox,
    clock: systemClock,
    log,
    owner: `${process.pid}-${crypto.randomUUID()}`,
    isAlone: config.database === undefined,
  });
  const stopped = new Promise<void>((resolve) => {
    process.on('message', (message: unknown) => {
      if (isTurnMessage(message)) borrower?.receive(message);
      else if (isOrder(message, 'wake')) importer.wake();
      else if (isOrder(message, 'stop')) resolve();
    });
    // The server was killed. Its turns are gone with it, so nothing may be written any more.
    process.on('disconnect', () => process.exit(0));
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => undefined);
  });
  importer.start();
  await stopped;
  await importer.stop();
  await services.close();
  return 0;
}

function isOrder(message: unknown, order: 'wake' | 'stop'): boolean {
  return (
    typeof message === 'object' && message !== null && 'processor' in message && message.processor === order
  );
}
