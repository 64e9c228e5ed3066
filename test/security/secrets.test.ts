import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { openSecretBox, secretBox, sha256Hex } from '../../src/security/secret-key.ts';
import { createToken, isTokenWellFormed } from '../../src/security/tokens.ts';

describe('secretBox', () => {
  const box = secretBox(Buffer.alloc(32, 1));

  test('opens what it has sealed, in the same place alone', () => {
    const sealed = box.seal('geheim ✓', 'token:1');
    expect(sealed).not.toContain('geheim');
    expect(box.open(sealed, 'token:1')).toBe('geheim ✓');
    expect(() => box.open(sealed, 'token:2')).toThrow();
    expect(() => secretBox(Buffer.alloc(32, 2)).open(sealed, 'token:1')).toThrow();
  });

  test('seals the same secret differently each time and notices every change', () => {
    const sealed = box.seal('x', 'c');
    expect(box.seal('x', 'c')).not.toBe(sealed);
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open(`v1.${changed.toString('base64url')}`, 'c')).toThrow();
    }
  });
});

describe('openSecretBox', () => {
  test('makes a key that only the owner may read, and reads it again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-key-'));
    const path = join(folder, 'secret.key');
    const sealed = openSecretBox(path).seal('x', 'c');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(openSecretBox(path).open(sealed, 'c')).toBe('x');
    rmSync(folder, { recursive: true });
  });

  test('refuses a file that holds no key, and leaves it as it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-key-'));
    const path = join(folder, 'secret.key');
    writeFileSync(path, 'abc');
    expect(() => openSecretBox(path)).toThrow('does not hold a key');
    expect(readFileSync(path, 'utf8')).toBe('abc');
    rmSync(folder, { recursive: true });
  });
});

describe('createToken', () => {
  test('makes tokens of 256 random bits with a prefix and a checksum', () => {
    const tokens = Array.from({ length: 200 }, () => createToken('scim'));
    expect(new Set(tokens).size).toBe(200);
    for (const token of tokens) {
      expect(token).toMatch(/^rollcall_scim_[\w-]{43}[0-9a-z]{7}$/);
      expect(isTokenWellFormed(token)).toBe(true);
    }
  });

  test('notices a mistyped character anywhere', () => {
    const token = createToken('upload');
    for (let index = 0; index < token.length; index += 1) {
      const other = token[index] === 'a' ? 'b' : 'a';
      expect(isTokenWellFormed(token.slice(0, index) + other + token.slice(index + 1))).toBe(false);
    }
    for (const text of ['', 'rollcall_scim_', `${token}a`, ` ${token}`, `${token}\n`])
      expect(isTokenWellFormed(text)).toBe(false);
  });
});

describe('sha256Hex', () => {
  test('is SHA-256', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('PasswordHasher', () => {
  test('hashes what it can verify, each time with another salt', async () => {
    const hasher = new PasswordHasher();
    const [one, other] = await Promise.all([hasher.hash('pass'), hasher.hash('pass')]);
    expect(one).not.toBe(other);
    expect(await hasher.verify('pass', one ?? '')).toBe(true);
    expect(await hasher.verify('Pass', one ?? '')).toBe(false);
  });

  test('refuses a flood as unavailable and goes on afterwards', async () => {
    const hasher = new PasswordHasher();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 80 }, () => hasher.verify('x', 'no hash')),
    );
    const refused = outcomes.filter(
      (outcome) => outcome.status === 'rejected' && outcome.reason.kind === 'unavailable',
    );
    expect(refused).toHaveLength(80 - 2 - 64);
    expect(await hasher.hash('x')).toStartWith('$argon2id$');
  });
});
