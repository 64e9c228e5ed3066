import { describe, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { configurationCases } from './configuration-cases.ts';
import { readConversations } from './exchange.ts';
import { replay } from './replay.ts';

for (const dialect of dialects()) {
  describe(`conversations of known clients on ${dialect}`, () => {
    for (const conversation of readConversations()) {
      test(`${conversation.name}: ${conversation.about}`, async () => {
        await using app = await openTestApp({ dialect, settings: conversation.settings });
        await replay(conversation, app);
      });
    }
  });
}

describe('what a Power User configures', () => {
  for (const { shows, about, run } of configurationCases) test(`${shows.join(', ')}: ${about}`, run);
});
