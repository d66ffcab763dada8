import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAssistantServer } from '../../src/commands/mcp/server.ts';
import { OPERATIONS, TOOLS, type Tool } from '../../src/mcp/tools.ts';
import { shopFingerprint, startDemo } from '../demo.ts';
import { ofTheDay, someInTurn } from '../seed.ts';
import type { Service } from '../service.ts';

/**
 * An assistant reads texts that strangers wrote, and may be talked into anything: every argument of a tool is hostile.
 * The tools are read from their own table; those of a day are others than those of the next. Nothing is changed, no other place of the API is reached, nothing ends the server.
 */

let service: Service;
let client: Client;
let asked: string[];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0' });
  asked = [];
  service.app.addHook('onRequest', async ({ method, url }) => void asked.push(`${method} ${url}`));
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'test', version: '1.0.0' });
  await createAssistantServer({ origin, shopId: 'DemoShop', token: 'demo-all', mayWrite: true }).connect(
    ours,
  );
  await client.connect(theirs);
});
afterAll(async () => {
  await client.close();
  await service.close();
});

const NO_ID = '00000000-0000-4000-8000-000000000000';
const HOSTILE: readonly unknown[] = [
  '../orders',
  '..%2f..%2fshops',
  `${NO_ID}/../../EmptyShop`,
  `${NO_ID}?x=1#y`,
  `${NO_ID}\r\nX-Evil: 1`,
  'a\0b',
  '\ud800',
  '\u202e\u001b[2J',
  'x'.repeat(1_000_000),
  '__proto__',
  "'; drop table shop; --",
  '${7*7}{{7*7}}',
  -1,
  0,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  0.000_000_1,
  null,
  true,
  [],
  Array.from({ length: 10_000 }, () => 'x'),
  {},
  { $ne: null },
  { toString: 'x', valueOf: 'x' },
  JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`),
];

interface Ending {
  text: string;
  isError: boolean;
}

async function call(name: string, input: unknown): Promise<Ending> {
  try {
    const answer = (await client.callTool({
      name,
      arguments: input as Record<string, unknown>,
    })) as CallToolResult;
    const [part] = answer.content;
    return { text: part?.type === 'text' ? part.text : '', isError: answer.isError === true };
  } catch (error) {
    return { text: (error as Error).message, isError: true };
  }
}

/** The parts of the path of a tool. */
const idsOf = ({ operation }: Tool) => Object.keys(OPERATIONS.get(operation)!.params?.properties ?? {});

/** Arguments that a tool would take, of things that do not exist. */
const rightInput = (tool: Tool): Record<string, unknown> => ({
  ...Object.fromEntries(idsOf(tool).map((name) => [name, NO_ID])),
  ...('amount' in tool.input.properties && { amount: 1 }),
});

const OFFERED = TOOLS.filter(({ kind }) => kind !== 'plans');

test.each(OFFERED.filter((tool) => idsOf(tool).length > 0))(
  '$name leads nowhere but to its operation',
  async (tool) => {
    asked.length = 0;
    for (const id of ['', '.', '..', '%2e%2e', 'a/b', 'a?b', 'a#b', '\\', 'x'.repeat(200)]) {
      for (const name of idsOf(tool)) {
        const { isError, text } = await call(tool.name, { ...rightInput(tool), [name]: id });
        expect([id, isError, STATEMENTS.test(text)]).toEqual([id, true, false]);
      }
    }
    expect(asked).toEqual([]);
  },
);

const STATEMENTS = /syntax error|node_modules|\/src\/|at .+:\d+:\d+/;

describe.each(ofTheDay(OFFERED, 12).map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  test('takes no hostile argument further than a question about one thing of the shop', async () => {
    const before = await shopFingerprint(service, 'DemoShop');
    asked.length = 0;
    const names = [...Object.keys(tool.input.properties), 'unknown', '__proto__', 'constructor'];
    for (const [index, argument] of names.entries()) {
      for (const value of someInTurn(HOSTILE, index, 9)) {
        const input = JSON.parse(JSON.stringify(rightInput(tool))) as Record<string, unknown>;
        Object.defineProperty(input, argument, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
        const { text } = await call(name, input);
        expect(text.length).toBeLessThan(45_000);
        expect(text).not.toMatch(STATEMENTS);
      }
    }
    for (const input of [[], 'x', null, 5]) await call(name, input);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    // Whatever reached the service asked for the resource of this tool in this shop, with ids that are ids.
    const places = new Set(
      asked.map((line) =>
        line.replace(/\?.*$/, '').replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, 'ID'),
      ),
    );
    expect(places.size).toBeLessThanOrEqual(1);
    for (const place of places)
      expect(place).toMatch(/^[A-Z]+ \/(?:rs|manage)\/shops\/DemoShop(?:\/(?:[a-z-]+|ID))*$/);
    // Nothing has these ids; what needs none may make something.
    if (idsOf(tool).length > 0) expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
  });
});

test('a tool that does not exist, and a message that is none, end nothing', async () => {
  for (const name of ['', '__proto__', 'constructor', 'get_shop\0', 'x'.repeat(100_000)]) {
    expect((await call(name, {})).isError).toBe(true);
  }
  expect((await call('get_shop', {})).isError).toBe(false);
});
