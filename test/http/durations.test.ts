import { describe, expect, test } from 'bun:test';
import { Durations } from '../../src/http/durations.ts';

describe('Durations', () => {
  test('are told as a histogram whose buckets count all below their bound', () => {
    const durations = new Durations();
    for (const seconds of [0.0005, 0.001, 0.002, 0.3, 99]) durations.observe('scim', 'GET', 200, seconds);
    const lines = durations.text().split('\n');
    const bucket = (le: string) => lines.find((line) => line.includes(`le="${le}"`))?.replace(/^.*} /, '');
    expect(lines).toContain('# TYPE rollcall_http_request_duration_seconds histogram');
    expect(['0.001', '0.0025', '0.25', '0.5', '10', '+Inf'].map(bucket)).toEqual([
      '2',
      '3',
      '3',
      '4',
      '4',
      '5',
    ]);
    const labels = '{surface="scim",method="GET",status="2xx"}';
    expect(lines).toContain(`rollcall_http_request_duration_seconds_count${labels} 5`);
    expect(lines).toContain(`rollcall_http_request_duration_seconds_sum${labels} 99.3035`);
  });

  test('are apart for each class of status, and one for all methods that are not known', () => {
    const durations = new Durations();
    durations.observe('scim', 'BREW', 404, 1);
    durations.observe('scim', 'MELT', 405, 1);
    durations.observe('scim', 'GET', 500, 1);
    const counts = durations
      .text()
      .split('\n')
      .filter((line) => line.includes('_count'));
    expect(counts.map((line) => line.replace(/^.*method=/, ''))).toEqual([
      '"other",status="4xx"} 2',
      '"GET",status="5xx"} 1',
    ]);
  });
});
