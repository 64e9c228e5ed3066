// Security owns what must not leak: the key of the data folder, tokens, password hashing, the password rule.
// It never decides who may do what; that is the policy of the folder that asks.
// The key never enters the database, so a copy of the database gives away no token.

import { createCipheriv, createDecipheriv, createHash, type Decipheriv, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { DomainError } from '../errors.ts';

/** Seals small secrets for storage. The context binds a ciphertext to its place: moved elsewhere it does not open. */
export interface SecretBox {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1';

/** Reads the key at `path`, or makes one there (0600) when there is none yet. */
export function openSecretBox(path: string): SecretBox {
  return secretBox(readKey(path) ?? createKey(path));
}

/** AES-256-GCM with a random nonce for each secret and the context as associated data. */
export function secretBox(key: Buffer): SecretBox {
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed.slice(version.length + 1), 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const plain = decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8');
      return plain + finish(decipher);
    },
  };
}

/** The last block, where a wrong key shows. */
function finish(decipher: Decipheriv): string {
  try {
    return decipher.final('utf8');
  } catch (cause) {
    const detail =
      'The secret was sealed under another key; put the right secret.key back into the data folder.';
    throw new DomainError('unavailable', detail, { cause });
  }
}

function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
  const key = Buffer.from(text, 'hex');
  if (key.length !== keyBytes) throw new Error(`${path} does not hold a key; put the right secret.key back`);
  return key;
}

function createKey(path: string): Buffer {
  const key = randomBytes(keyBytes);
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    writeDurably(draft, `${key.toString('hex')}\n`);
    // The name appears with the whole key behind it, or not at all, and never takes the place of another key.
    linkSync(draft, path);
    return key;
  } catch (error) {
    // Another command made the key between our look and our leap.
    const made = (error as { code?: string }).code === 'EEXIST' ? readKey(path) : undefined;
    if (made === undefined) throw error;
    return made;
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** SHA-256, hexadecimal: how tokens and invitations are looked up without being stored. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
