import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoShop, startDemo } from '../demo.ts';
import { IS_POOLED } from '../pgbouncer.ts';
import { recordStatements } from '../recorded-statements.ts';
import type { Service } from '../service.ts';
import { callCombinations, callInVariations } from '../variations.ts';

/*
 * PostgreSQL keeps a named statement, and its plan, for as long as the connection lives. If what a visitor sends made
 * new texts, anybody could fill the memory of the database by searching for different numbers of words.
 */

/** More than the program has; what grows beyond it must be looked at. */
const MAX_TEXTS = 720;

/** A part of what an operation takes leaves out other fields each time. */
const MIN_ROUNDS = 3;

/** A search has some rare texts, for words that are in no product and the like. */
const MAX_ROUNDS = 12;

const isByTimer = (text: string) => /insert into (app_call_log|app_use|shop_day)/.test(text);

let service: Service;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
});

afterAll(() => service.close());

// Behind a pooler that cannot keep prepared statements none has a name.
test.skipIf(IS_POOLED)(
  'whatever is sent, the number of SQL texts is a constant of the program',
  async () => {
    const { named, unnamed } = recordStatements(service.db);
    await callInVariations(demoShop(service), 1, { isPlain: true });
    await callCombinations(demoShop(service), 1);
    // Other values soon bring no text that was not there before.
    let known: ReadonlySet<string>;
    let seed = 2;
    do {
      known = new Set(named);
      await callInVariations(demoShop(service), seed++);
      // The calls of apps are written every ten seconds, by a timer.
    } while (
      seed <= MIN_ROUNDS ||
      (seed < MAX_ROUNDS && [...named].some((text) => !known.has(text) && !isByTimer(text)))
    );
    expect(seed).toBeLessThan(MAX_ROUNDS);
    expect(named.size).toBeGreaterThan(200);
    expect(named.size).toBeLessThan(MAX_TEXTS);
    // None got no name because there were too many.
    expect([...unnamed]).toEqual([]);
  },
  300_000,
);
