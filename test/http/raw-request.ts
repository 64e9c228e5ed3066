import { connect } from 'node:net';

/** What came back over the wire: the status of the first answer (0 when the connection was closed without one) and all of it. */
export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

const idleMsMax = 2_000;

/** Sends these bytes as they are, which no HTTP client would do, and reads until the server closes or has answered. */
export function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const finish = () => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    socket.setTimeout(idleMsMax, finish);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isWhole(text)) finish();
    });
    socket.on('error', finish);
    socket.on('close', finish);
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}

function isWhole(text: string): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  if (rest.length === 0) return false;
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) return /^HTTP\/1\.1 (?:204|304)/.test(head) || text.endsWith('0\r\n\r\n');
  return rest.join('\r\n\r\n').length >= Number(length);
}
