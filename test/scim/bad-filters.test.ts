import { describe, expect, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';

describe('a request', () => {
  test.each([
    ['userName is "x"', /character 10/],
    ['userName eq', /at its end: a blank and a value/],
    ['userName eq "x', /character 13.*closing quotation mark/],
    ['(userName eq "x"', /at its end: "\)" is missing/],
    ['userName eq "x" and', /at its end: an attribute name is missing/],
    ['nothing eq "x"', /"nothing" at character 1 is no attribute/],
    ['active gt true', /"active" at character 1 .*boolean/],
    ['meta.created gt "yesterday"', /character 17/],
    ['password eq "x"', /never returned/],
    ['emails[type eq "work"', /at its end: "\]" is missing|emails/],
    ['x'.repeat(10_000), /longer/],
    [`${'('.repeat(500)}userName pr${')'.repeat(500)}`, /deep|nested/],
    [Array.from({ length: 100 }, () => 'title pr').join(' or '), /longer|terms/],
    ['userName eq "\ud800"', /character \d+|UTF-8|surrogate/],
    ['userName eq "\u0000"', /character \d+/],
  ])('with the filter %p is refused with the place of the fault', async (filter, detail) => {
    await using app = await openTestApp();
    for (const endpoint of ['/Users', '/Groups'] as const) {
      const known = endpoint === '/Users' ? filter : filter.replaceAll('userName', 'displayName');
      const answer = await app.find(endpoint, known.toWellFormed().replaceAll('\ufffd', '\\ud800'));
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
      if (endpoint === '/Users') expect(answer.body.detail).toMatch(detail);
      expect(answer.body.detail.length).toBeLessThan(1_000);
    }
  });
});
