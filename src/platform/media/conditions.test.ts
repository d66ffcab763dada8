import { describe, expect, test } from 'vitest';
import { decide, fileEtag } from './conditions.ts';

const file = { size: 1_000, modifiedAt: new Date('2026-11-15T08:30:00.500Z') };
const ETAG = fileEtag(file);
const SAME = 'Sun, 15 Nov 2026 08:30:00 GMT';
const BEFORE = 'Sun, 15 Nov 2026 08:29:59 GMT';

describe('conditions', () => {
  test.each([
    [{}, 200],
    [{ 'if-none-match': ETAG }, 304],
    [{ 'if-none-match': `W/${ETAG}` }, 304],
    [{ 'if-none-match': `"other", ${ETAG}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-modified-since': SAME }, 304],
    [{ 'if-modified-since': BEFORE }, 200],
    [{ 'if-modified-since': 'soon' }, 200],
    // The tag is the better condition, so the date does not count.
    [{ 'if-none-match': '"other"', 'if-modified-since': SAME }, 200],
    [{ 'if-match': ETAG }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': `W/${ETAG}` }, 412],
    [{ 'if-match': '"other"' }, 412],
    [{ 'if-unmodified-since': SAME }, 200],
    [{ 'if-unmodified-since': BEFORE }, 412],
    [{ 'if-unmodified-since': 'soon' }, 200],
    [{ 'if-match': ETAG, 'if-unmodified-since': BEFORE }, 200],
    [{ 'if-match': ETAG, 'if-none-match': ETAG }, 304],
    [{ 'if-none-match': ETAG, range: 'bytes=0-1' }, 304],
  ])('%o: %i', (headers, status) => {
    expect(decide(headers, file)).toEqual({ status });
  });
});

describe('ranges', () => {
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-999', 0, 999],
    ['bytes=10-', 10, 999],
    ['bytes=990-2000', 990, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-5000', 0, 999],
    [' bytes= 1-2 ', 1, 2],
    [`bytes=0-${'9'.repeat(400)}`, 0, 999],
  ])('%s: %i to %i', (range, start, end) => {
    expect(decide({ range }, file)).toEqual({ status: 206, range: { start, end } });
  });

  test.each([
    ['bytes=1000-', 416],
    ['bytes=1000-1001', 416],
    ['bytes=-0', 416],
    [`bytes=${'9'.repeat(400)}-`, 416],
    ['bytes=5-4', 200],
    ['bytes=-', 200],
    ['bytes=a-b', 200],
    ['bytes=0-1,5-6', 200],
    ['lines=0-1', 200],
    ['', 200],
  ])('%j: %i', (range, status) => {
    expect(decide({ range }, file)).toEqual({ status });
  });

  test.each([
    [ETAG, 206],
    [SAME, 206],
    [`W/${ETAG}`, 200],
    ['"other"', 200],
    [BEFORE, 200],
  ])('of the file that the client knows, %s: %i', (ifRange, status) => {
    expect(decide({ range: 'bytes=1-2', 'if-range': ifRange }, file).status).toBe(status);
  });

  test('of an empty file there are none', () => {
    expect(decide({ range: 'bytes=0-' }, { ...file, size: 0 })).toEqual({ status: 416 });
    expect(decide({}, { ...file, size: 0 })).toEqual({ status: 200 });
  });
});
