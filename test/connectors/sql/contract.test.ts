// The kind `sql` under what every kind has to hold, on each server that it speaks with.

import { createServer, type Socket } from 'node:net';
import { type ContractSource, describeConnectorContract, largeCount } from '../contract.ts';
import { type Engine, engines, openSource } from './databases.ts';

async function openContractSource(engine: Engine): Promise<ContractSource> {
  const source = await openSource(engine);
  const numbers = engine === 'mysql' ? 'seq_1_to_100000' : `generate_series(1, ${largeCount})`;
  const number = engine === 'mysql' ? 'seq' : 'n';
  await source.run(
    'create table person (id bigint primary key, login varchar(50), given varchar(50), mail varchar(100))',
    `insert into person select ${number}, concat('person', ${number}), 'Åse', concat('p', ${number}, '@example.com') from ${numbers} as ${number === 'n' ? 'n' : 's'}`,
  );
  const silent = await openSilent();
  const users = 'select id, login as username, given as firstname, mail as email from person';
  return {
    config: { ...source.config, users: `${users} where id <= 3` },
    badCredentials: { ...source.config, users, password: 'another-password-0815' },
    empty: { ...source.config, users: `${users} where id < 0` },
    large: { ...source.config, users },
    silent: {
      config: { ...source.config, users, host: '127.0.0.1', port: silent.port },
      reached: silent.reached,
    },
    async [Symbol.asyncDispose]() {
      silent.stop();
      await source[Symbol.asyncDispose]();
    },
  };
}

/** A server that takes a connection and says nothing. */
async function openSilent() {
  let onReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    onReached = resolve;
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onReached();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, reached, stop };
}

for (const engine of engines().filter((each) => each !== 'sqlite'))
  describeConnectorContract({ kind: 'sql', open: () => openContractSource(engine) });
