import { describe, expect, test } from 'bun:test';
import { checkPassword, checkPasswordRegex } from '../../src/security/password-rule.ts';

/** The refusal. `expect(…).rejects` waits without hearing other threads, and the rule is applied on one. */
function refusalOf(check: Promise<void>): Promise<unknown> {
  return check.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('checkPassword', () => {
  test('takes any password where there is no rule, up to 1,024 bytes', async () => {
    await checkPassword('x', '');
    await checkPassword('é'.repeat(512), '');
    expect(await refusalOf(checkPassword('é'.repeat(513), ''))).toMatchObject({ kind: 'invalidValue' });
  });

  test('uses the whole of PCRE2: look-around, possessive, Unicode classes', async () => {
    const rule = '^(?=.*\\p{Lu})(?=.*\\d)(?!.*password)(?>\\S++)$';
    await checkPassword('Ünic0de', rule);
    for (const weak of ['unic0de', 'Unicode', 'Passpassword1', 'Has 1 blank'])
      expect(String(await refusalOf(checkPassword(weak, rule)))).toContain('does not meet');
  });

  test('answers many at once, while the rule changes and back', async () => {
    const rules = ['^a+$', '^[ab]+$', '^a+$', '^(a|b)+$'];
    const checks = Array.from({ length: 40 }, (_, index) => checkPassword('aaa', rules[index % 4] ?? ''));
    expect(await Promise.all(checks)).toHaveLength(40);
  });

  test('says message and offset of a rule that does not compile, each time', async () => {
    for (let time = 0; time < 2; time += 1)
      expect(String(await refusalOf(checkPassword('x', '[a-')))).toMatch(/does not compile: .+ at offset 3/);
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
    expect(await refusalOf(checkPasswordRegex('('))).toMatchObject({
      kind: 'invalidValue',
      attribute: 'password',
    });
  });
});
