import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_NAMED_STATEMENTS, namedStatementTexts } from '../../src/db/sql.ts';
import { demoShop, startDemo } from '../demo.ts';
import { callInVariations } from '../variations.ts';
import type { Service } from '../service.ts';

/*
 * PostgreSQL keeps a named statement, and its plan, for as long as the connection lives. If what a visitor sends made
 * new texts, anybody could fill the memory of the database by searching for different numbers of words.
 */

/** More than the program has; what grows beyond it must be looked at. */
const MOST_TEXTS = 400;

let service: Service;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
});

afterAll(() => service.close());

test('whatever is sent, the number of SQL texts is a constant of the program', async () => {
  await callInVariations(demoShop(service), 1, 3);
  const known = new Set(namedStatementTexts());
  expect(known.size).toBeLessThan(MOST_TEXTS);
  expect(MOST_TEXTS).toBeLessThan(MAX_NAMED_STATEMENTS);

  await callInVariations(demoShop(service), 2, 2);
  expect(namedStatementTexts().filter((text) => !known.has(text))).toEqual([]);
}, 300_000);
