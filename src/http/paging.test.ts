import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { paged, paging } from './paging.ts';
import { check, compileParameters } from './validation.ts';

/** The parameters as a client sends them, through the same checks as a route's. */
function pageOf(sent: Record<string, string>, size?: { standard: number; maximum: number }) {
  const { parameters, pageOf: read } = paging(size);
  const query = { ...sent };
  check(compileParameters(Type.Object(parameters)), query);
  return read(query as unknown as { page: number; resultsPerPage: number });
}

describe('paging', () => {
  test.each([
    [{}, { page: 1, resultsPerPage: 10, offset: 0 }],
    [{ page: '3' }, { page: 3, resultsPerPage: 10, offset: 20 }],
    [
      { page: '2', resultsPerPage: '25' },
      { page: 2, resultsPerPage: 25, offset: 25 },
    ],
    [{ resultsPerPage: '100' }, { page: 1, resultsPerPage: 100, offset: 0 }],
    [{ resultsPerPage: '101' }, { page: 1, resultsPerPage: 100, offset: 0 }],
    [
      { page: '2', resultsPerPage: '99999999999' },
      { page: 2, resultsPerPage: 100, offset: 100 },
    ],
    [{ resultsPerPage: '1e999' }, { page: 1, resultsPerPage: 100, offset: 0 }],
    [
      { page: '2147483647', resultsPerPage: '100' },
      { page: 2_147_483_647, resultsPerPage: 100, offset: 214_748_364_600 },
    ],
    [
      { page: '2147483648', resultsPerPage: '100' },
      { page: 2_147_483_648, resultsPerPage: 100, offset: 214_748_364_600 },
    ],
    [
      { page: '9'.repeat(400) },
      { page: Number.MAX_SAFE_INTEGER, resultsPerPage: 10, offset: 21_474_836_460 },
    ],
  ])('%j is %j', (sent, page) => {
    expect(pageOf(sent)).toEqual(page);
  });

  test('has the sizes of its list', () => {
    const size = { standard: 100, maximum: 1000 };
    expect(pageOf({}, size)).toEqual({ page: 1, resultsPerPage: 100, offset: 0 });
    expect(pageOf({ page: '2', resultsPerPage: '5000' }, size)).toEqual({
      page: 2,
      resultsPerPage: 1000,
      offset: 1000,
    });
  });

  test.each([
    [{ page: '0' }, 'OUT_OF_RANGE on field page'],
    [{ page: '-1' }, 'OUT_OF_RANGE on field page'],
    [{ page: '1.5' }, 'WRONG_TYPE on field page'],
    [{ page: 'two' }, 'WRONG_TYPE on field page'],
    [{ page: '' }, 'WRONG_TYPE on field page'],
    [{ page: 'Infinity' }, 'WRONG_TYPE on field page'],
    [{ resultsPerPage: 'Infinity' }, 'WRONG_TYPE on field resultsPerPage'],
    [{ resultsPerPage: '0' }, 'OUT_OF_RANGE on field resultsPerPage'],
    [{ resultsPerPage: '-5' }, 'OUT_OF_RANGE on field resultsPerPage'],
    [{ resultsPerPage: 'all' }, 'WRONG_TYPE on field resultsPerPage'],
  ])('%j is refused: %s', (sent, problem) => {
    expect(() => pageOf(sent)).toThrow(`validation error ${problem}`);
  });
});

test('an answer echoes the page in force, in the order of the contract', () => {
  const answer = paged({ page: 2, resultsPerPage: 10, offset: 10 }, 11, ['last']);
  expect(JSON.stringify(answer)).toBe('{"results":11,"page":2,"resultsPerPage":10,"items":["last"]}');
});
