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

  test('keeps what is offered until it was full, and from then on what is offered twice', () => {
    const cache = new TextCache(20_000);
    const text = 'x'.repeat(200);
    for (let id = 0; id < 1_000; id += 1) cache.offer('a', id, { version: 1, text });
    const isKept = (id: number) => cache.find('a', id, 1) !== undefined;
    expect(isKept(0)).toBe(false);
    expect(isKept(999)).toBe(false);
    const kept = Array.from({ length: 1_000 }, (_, id) => id).filter(isKept);
    expect(kept).not.toBeEmpty();
    for (const offered of [false, true]) {
      cache.offer('a', 5_000, { version: 1, text });
      expect(isKept(5_000)).toBe(offered);
    }
    // Another with the same place in what is remembered.
    for (const id of [7, 7 + 16_384, 7]) cache.offer('a', id, { version: 1, text });
    expect(isKept(7)).toBe(false);
  });

  test('does not keep what would fill it, and counts a text once that is replaced', () => {
    const cache = new TextCache(2_000);
    cache.keep('a', 1, { version: 1, text: 'x'.repeat(1_000) });
    expect(cache.bytes).toBe(0);
    for (let version = 0; version < 50; version += 1) cache.keep('a', 1, { version, text: 'x' });
    expect(cache.bytes).toBe(102);
  });
});
