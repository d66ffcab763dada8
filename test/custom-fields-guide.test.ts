import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from './demo.ts';
import type { Service } from './service.ts';

/** The calls of docs/custom-fields.md, as they are written there. */
const guide = await readFile(path.join(import.meta.dirname, '../docs/custom-fields.md'), 'utf8');
const calls = [...guide.matchAll(/```sh\n(.*?)\n```/gs)].map(([, text]) => ({
  method: /-X (\w+)/.exec(text!)?.[1] ?? (text!.includes('-d ') ? 'POST' : 'GET'),
  path: /http:\/\/localhost:8080([^'\s]+)/.exec(text!)![1]!.replace('/rs/shops', ''),
  token: /Bearer ([\w-]+)/.exec(text!)![1]!,
  body: /-d '(.*?)'/s.exec(text!)?.[1],
}));

let service: Service;
beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

test('the calls of the guide do what it says', async () => {
  const answers = [];
  for (const { method, path: url, token, body } of calls) {
    answers.push(
      await service.call(method, url, { token, ...(body !== undefined && { body: JSON.parse(body) }) }),
    );
  }
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
  const [, answer] = /```json\n(.*?)\n```/s.exec(guide)!;
  expect(answers[2]!.body.fields).toEqual(JSON.parse(answer!));
});
