import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, killPostgres, startKontor, waitFor, type Running } from './process.ts';

/**
 * kill -9 at a random moment while writers write as fast as they can, in turns of the service, of PostgreSQL and of
 * both. What a client has seen acknowledged is there afterwards, once; a write whose answer was lost is repeated
 * with its Idempotency-Key and has one effect. PostgreSQL has the settings of production. `npm run proof -- --only
 * crash` goes on for longer.
 */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterAll(cleanUp);

const WRITERS = 6;
const VICTIMS = ['the service', 'PostgreSQL', 'both'] as const;
const rounds = VICTIMS.map((victim, index) => ({ round: index + 1, victim }));

interface Customer {
  customerNumber: string;
  internalNote: string | null;
}

describe('kill -9', () => {
  let data: string;
  let service: Running;
  /** The number that each acknowledged note was given. */
  const acknowledged = new Map<string, string>();
  /** Notes of writes whose fate the client does not know. */
  const unknown = new Set<string>();

  const start = () => startKontor({ KONTOR_DATA: data, RATE_LIMIT: '0', LOG_LEVEL: 'fatal' });
  beforeAll(async () => {
    data = await newStartedFolder();
    service = await start();
  });

  async function write(note: string, key?: string): Promise<Response> {
    return fetch(`${service.address}/rs/shops/DemoShop/customers`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer demo-all',
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify({ internalNote: note, billingAddress: { lastName: 'Brennan' } }),
    });
  }

  /** Writes until something goes wrong; every other write carries its note as its key. */
  async function keepWriting(name: string, signal: AbortSignal): Promise<void> {
    for (let count = 0; !signal.aborted; count++) {
      const note = `${count % 2 === 0 ? 'keyed' : 'plain'} ${name} ${count}`;
      unknown.add(note);
      try {
        const response = await write(note, keyOf(note));
        if (response.status !== 201) {
          expect(response.status).toBe(503);
          return;
        }
        const { customerNumber } = (await response.json()) as Customer;
        acknowledged.set(note, customerNumber);
        unknown.delete(note);
      } catch (error) {
        // The connection broke before the whole answer was here.
        expect(error).toBeInstanceOf(TypeError);
        return;
      }
    }
  }

  const keyOf = (note: string) => (note.startsWith('keyed') ? note.replaceAll(' ', '-') : undefined);

  async function strike(victim: (typeof VICTIMS)[number]): Promise<void> {
    if (victim !== 'PostgreSQL') service.kill('SIGKILL');
    if (victim !== 'the service') await killPostgres(data);
    if (victim !== 'PostgreSQL') {
      await service.ended;
      service = await start();
    }
    await waitFor(async () => (await fetch(`${service.address}/ready`)).status === 200);
  }

  async function allCustomers(): Promise<Customer[]> {
    const found: Customer[] = [];
    for (let page = 1; ; page++) {
      const response = await fetch(
        `${service.address}/rs/shops/DemoShop/customers?resultsPerPage=100&page=${page}`,
        { headers: { authorization: 'Bearer demo-all' } },
      );
      expect(response.status).toBe(200);
      const { items, results } = (await response.json()) as { items: Customer[]; results: number };
      found.push(...items);
      if (items.length === 0) {
        expect(found).toHaveLength(results);
        return found;
      }
    }
  }

  /** Everything acknowledged is there once, under its number; nothing is there twice. */
  async function checkCustomers(): Promise<void> {
    const customers = await allCustomers();
    const numbers = new Set(customers.map(({ customerNumber }) => customerNumber));
    expect(numbers.size).toBe(customers.length);
    const notes = customers.flatMap(({ internalNote }) => internalNote ?? []);
    expect(new Set(notes).size).toBe(notes.length);
    const numberOf = new Map(
      customers.map(({ internalNote, customerNumber }) => [internalNote, customerNumber]),
    );
    const lost = [...acknowledged].filter(([note, number]) => numberOf.get(note) !== number);
    expect(lost).toEqual([]);
    const invented = notes.filter(
      (note) => /^(keyed|plain) /.test(note) && !acknowledged.has(note) && !unknown.has(note),
    );
    expect(invented).toEqual([]);
  }

  test.each(rounds)('$round: $victim', async ({ round, victim }) => {
    const before = acknowledged.size;
    const over = new AbortController();
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      keepWriting(`${round}.${index}`, over.signal),
    );
    await waitFor(() => acknowledged.size > before + WRITERS, 20_000, 1);
    await sleep(Math.random() * 700);
    await strike(victim);
    over.abort();
    await Promise.all(writers);
    await checkCustomers();

    const keyed = [...unknown].filter((note) => keyOf(note) !== undefined);
    for (const note of keyed) {
      const response = await write(note, keyOf(note));
      expect(response.status).toBe(201);
      const { customerNumber } = (await response.json()) as Customer;
      acknowledged.set(note, customerNumber);
      unknown.delete(note);
    }
    await checkCustomers();
  });

  test('and a stop in order ends it', async () => {
    expect(await service.stop()).toMatchObject({ code: 0 });
    service = await start();
    await checkCustomers();
    expect(acknowledged.size).toBeGreaterThan(rounds.length * WRITERS);
    await service.stop();
  });
});
