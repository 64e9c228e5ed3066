import { describe, expect, test } from 'bun:test';
import { TextCache } from '../../src/directory/text-cache.ts';

describe('TextCache', () => {
  test('gives a text back for the version, the id and the view that it was kept for', () => {
    const cache = new TextCache(10_000);
    cache.keep('a', 1, { version: 2, text: 'x' });
    expect(cache.find('a', 1, 2)).toBe('x');
    expect(cache.find('a', 1, 1)).toBeUndefined();
    expect(cache.find('a', 1, 3)).toBeUndefined();
    expect(cache.find('a', 2, 2)).toBeUndefined();
    expect(cache.find('b', 1, 2)).toBeUndefined();
    cache.keep('a', 1, { version: 3, text: 'y' });
    expect(cache.find('a', 1, 2)).toBeUndefined();
    expect(cache.find('a', 1, 3)).toBe('y');
  });

  test('never holds more than it may, and keeps what is asked for', () => {
    const cache = new TextCache(20_000);
    for (let id = 0; id < 1_000; id += 1) {
      cache.keep('a', id, { version: 1, text: 'x'.repeat(200) });
      expect(cache.find('a', 0, 1)).toBeDefined();
      expect(cache.bytes).toBeLessThanOrEqual(20_000);
    }
    expect(cache.find('a', 999, 1)).toBeDefined();
    expect(cache.find('a', 1, 1)).toBeUndefined();
  });

  test('does not keep what would fill it, and counts a text once that is replaced', () => {
    const cache = new TextCache(2_000);
    cache.keep('a', 1, { version: 1, text: 'x'.repeat(1_000) });
    expect(cache.bytes).toBe(0);
    for (let version = 0; version < 50; version += 1) cache.keep('a', 1, { version, text: 'x' });
    expect(cache.bytes).toBe(102);
  });
});
