import { describe, expect, test } from 'bun:test';
import { checkPassword, checkPasswordRegex } from '../../src/security/password-rule.ts';

describe('checkPassword', () => {
  test('takes any password where there is no rule, up to 1,024 bytes', async () => {
    await checkPassword('x', '');
    await checkPassword('é'.repeat(512), '');
    await expect(checkPassword('é'.repeat(513), '')).rejects.toMatchObject({ kind: 'invalidValue' });
  });

  test('uses the whole of PCRE2: look-around, possessive, Unicode classes', async () => {
    const rule = '^(?=.*\\p{Lu})(?=.*\\d)(?!.*password)(?>\\S++)$';
    await checkPassword('Ünic0de', rule);
    for (const weak of ['unic0de', 'Unicode', 'Passpassword1', 'Has 1 blank'])
      await expect(checkPassword(weak, rule)).rejects.toThrow('does not meet');
  });

  test('answers many at once, while the rule changes and back', async () => {
    const rules = ['^a+$', '^[ab]+$', '^a+$', '^(a|b)+$'];
    const checks = Array.from({ length: 40 }, (_, index) => checkPassword('aaa', rules[index % 4] ?? ''));
    expect(await Promise.all(checks)).toHaveLength(40);
  });

  test('says message and offset of a rule that does not compile, each time', async () => {
    for (let time = 0; time < 2; time += 1)
      await expect(checkPassword('x', '[a-')).rejects.toThrow(/does not compile: .+ at offset 3/);
    await checkPassword('aaa', '^a+$');
  });

  test('never tells the password', async () => {
    const refusal = await checkPassword('Canary-9', '^x$').catch((error: Error) => error);
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain('Canary');
  });
});

describe('checkPasswordRegex', () => {
  test('refuses what does not compile and takes what does', async () => {
    await checkPasswordRegex('^.{8,}$');
    await expect(checkPasswordRegex('(')).rejects.toMatchObject({
      kind: 'invalidValue',
      attribute: 'password',
    });
  });
});
