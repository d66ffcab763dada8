import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { givenShop } from './builders.ts';
import { kontorHere } from './command.ts';
import { databaseEnvironment, startService, type Service } from './service.ts';

/** The commands and the call of docs/sandboxes.md, as they are written there. */
const guide = await readFile(path.join(import.meta.dirname, '../docs/sandboxes.md'), 'utf8');
const commands = [...guide.matchAll(/^npx kontor (.*)$/gm)].map(([, words]) => words!.split(' '));

let service: Service;
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'MyShop');
});
afterAll(() => service.close());

const kontor = (words: readonly string[]) =>
  kontorHere([...words], {
    ...databaseEnvironment(service.database),
    KONTOR_DATA: service.config.KONTOR_DATA,
  });

test('the commands and the call of the guide do what it says', async () => {
  const [copy, token, remove, plain] = commands as [string[], string[], string[], string[]];
  expect(commands).toHaveLength(4);
  const copied = await kontor(copy);
  expect(copied).toMatchObject({ code: 0 });
  expect(copied.stdout).toMatch(
    /^Shop MySandbox is a sandbox of MyShop: 0 products, 0 orders, 0 customers, /,
  );
  expect((await kontor(['shop', 'list'])).stdout).toMatch(/^MySandbox +MyShop +open, sandbox of MyShop +/m);

  const { stdout } = await kontor(token);
  const [, body] = /-d '(.*?)'/.exec(guide)!;
  service.setClock(new Date('2026-11-19T08:30:00Z'));
  const { status, body: clock } = await service.call('POST', '/manage/shops/MySandbox/clock', {
    token: stdout.trim(),
    body: JSON.parse(body!),
  });
  const [, answer] = /```json\n(.*?)\n```/s.exec(guide)!;
  expect([status, clock]).toEqual([200, JSON.parse(answer!)]);

  expect(await kontor(remove)).toMatchObject({ code: 0 });
  expect(await kontor(plain)).toMatchObject({ code: 0 });
  expect(
    await service.db.many(sql`
    select shop_id as "shopId", sandbox_of as "sandboxOf" from shop order by shop_id`),
  ).toEqual([
    { shopId: 'MyCopy', sandboxOf: null },
    { shopId: 'MyShop', sandboxOf: null },
  ]);
});

test('a wrong call says what is wrong and makes nothing', async () => {
  expect(await kontor(['shop', 'copy', 'NoShop', 'Copy'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no shop "NoShop"') as string,
  });
  expect(await kontor(['shop', 'copy', 'MyShop', 'MyShop', '--sandbox'])).toMatchObject({ code: 1 });
  expect(await kontor(['shop', 'copy', 'MyShop', '../x', '--sandbox'])).toMatchObject({ code: 1 });
  expect(await kontor(['shop', 'copy', 'MyShop'])).toMatchObject({ code: 2 });
});
