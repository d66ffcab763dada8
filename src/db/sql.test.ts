import { describe, expect, test } from 'vitest';
import { sql, StatementNames, toStatement } from './sql.ts';

const byId = (id: number) => sql`select * from thing where id = ${id}`;

describe('sql', () => {
  test('numbers its values and keeps them out of the text', () => {
    const { text, values } = toStatement(
      sql`select ${"'; drop table thing; --"} where a = ${2} and b = ${null}`,
    );
    expect(text).toBe('select $1 where a = $2 and b = $3');
    expect(values).toEqual(["'; drop table thing; --", 2, null]);
  });

  test('without values is its text', () => {
    expect(toStatement(sql`select 1`)).toMatchObject({ text: 'select 1', values: [] });
  });

  test('has one name per call site, whatever the values are', () => {
    const first = toStatement(byId(1));
    const second = toStatement(byId(2));
    expect(second.name).toBe(first.name);
    expect(second.values).toEqual([2]);
  });

  test('has the same name for the same text, and another for another', () => {
    const one = toStatement(sql`select a from thing where id = ${1}`);
    const same = toStatement(sql`select a from thing where id = ${2}`);
    const other = toStatement(sql`select b from thing where id = ${1}`);
    expect(same.name).toBe(one.name);
    expect(other.name).not.toBe(one.name);
  });

  test('has names that PostgreSQL does not cut', () => {
    expect(toStatement(byId(1)).name).toMatch(/^k\d{1,9}$/);
  });

  test('splices a nested fragment in, with its values in their places', () => {
    const columns = sql`id, name`;
    const condition = sql`shop = ${'A'} and kind in (${1}, ${2})`;
    const { text, values } = toStatement(
      sql`select ${columns} from thing where x = ${'x'} and ${condition} limit ${10}`,
    );
    expect(text).toBe('select id, name from thing where x = $1 and shop = $2 and kind in ($3, $4) limit $5');
    expect(values).toEqual(['x', 'A', 1, 2, 10]);
  });

  test('splices fragments that stand side by side, first and last', () => {
    const { text, values } = toStatement(sql`${sql`select ${1}`}${sql`, ${2}`}`);
    expect(text).toBe('select $1, $2');
    expect(values).toEqual([1, 2]);
  });

  test('names a spliced statement by its text', () => {
    const page = (limit: number) => toStatement(sql`select ${sql`id`} from thing limit ${limit}`);
    expect(page(1).name).toBe(page(2).name);
  });

  test('takes what only looks like a fragment as a value', () => {
    const sent = { strings: ['drop table thing'], values: [] };
    const { text, values } = toStatement(sql`select ${sent}`);
    expect(text).toBe('select $1');
    expect(values).toEqual([sent]);
  });
});

describe('names', () => {
  test('run out before PostgreSQL has to hold too many statements; what comes then is sent without one', () => {
    const names = new StatementNames(3);
    const texts = ['select 1', 'select 2', 'select 1', 'select 3', 'select 4', 'select 2', 'select 5'];
    expect(texts.map((text) => names.of(text))).toEqual(['k0', 'k1', 'k0', 'k2', undefined, 'k1', undefined]);
  });
});
