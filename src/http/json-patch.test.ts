import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { JsonPatch, patchOf } from './json-patch.ts';
import { check, compileBody } from './validation.ts';

const patch = patchOf({
  '/name': { ops: ['add'], value: Type.String({ maxLength: 5 }) },
  '/note': { ops: ['add', 'remove'], value: Type.String() },
  '/price': { ops: ['replace'], value: Type.Number() },
  '/tag': { ops: ['add', 'remove'], value: Type.String(), isStrict: true },
  '/box': {
    ops: ['add', 'remove'],
    value: Type.Object({ width: Type.Integer(), lid: Type.Optional(Type.Boolean()) }),
  },
});

const validate = compileBody(JsonPatch);

/** As in a route: first the schema of the body, then the paths. */
function changesOf(body: unknown) {
  check(validate, body);
  return patch(body as Parameters<typeof patch>[0]);
}

describe('a patch', () => {
  test('keeps its order', () => {
    const body = [
      { op: 'add', path: '/note', value: 'a' },
      { op: 'remove', path: '/note' },
      { op: 'add', path: '/box', value: { width: 1 } },
    ];
    expect(changesOf(body)).toEqual(body);
  });

  test('of a scalar with replace is an add, where only add is listed', () => {
    expect(changesOf([{ op: 'replace', path: '/name', value: 'x' }])).toEqual([
      { op: 'add', path: '/name', value: 'x' },
    ]);
  });

  test('stays a replace where replace is listed', () => {
    expect(changesOf([{ op: 'replace', path: '/price', value: 1 }])).toEqual([
      { op: 'replace', path: '/price', value: 1 },
    ]);
  });

  test.each(['add', 'replace'])('that does %s null where remove is listed, removes', (op) => {
    expect(changesOf([{ op, path: '/note', value: null }])).toEqual([
      { op: 'remove', path: '/note', value: null },
    ]);
  });

  test('may remove with a value, which is left to the room', () => {
    expect(changesOf([{ op: 'remove', path: '/note', value: 7 }])).toEqual([
      { op: 'remove', path: '/note', value: 7 },
    ]);
  });

  test('takes 500 entries', () => {
    const body = Array.from({ length: 500 }, () => ({ op: 'add', path: '/name', value: 'x' }));
    expect(changesOf(body)).toHaveLength(500);
  });
});

describe('a refusal', () => {
  const good = { op: 'add', path: '/name', value: 'x' };

  test.each([
    ['an unknown path', [good, { op: 'add', path: '/size', value: 1 }], 'UNKNOWN_PATH on field [1] /size'],
    ['a path without its slash', [{ op: 'add', path: 'name', value: 'x' }], 'UNKNOWN_PATH on field [0] name'],
    [
      'a path below a listed one',
      [{ op: 'add', path: '/box/width', value: 1 }],
      'UNKNOWN_PATH on field [0] /box/width',
    ],
    [
      'a key of every object',
      [{ op: 'remove', path: 'constructor' }],
      'UNKNOWN_PATH on field [0] constructor',
    ],
    [
      'a replace where only the listed operations are accepted',
      [good, { op: 'replace', path: '/tag', value: 'x' }],
      'WRONG_OPERATION on field [1] /tag',
    ],
    [
      'a replace with null there',
      [{ op: 'replace', path: '/tag', value: null }],
      'WRONG_OPERATION on field [0] /tag',
    ],
    ['the empty path', [{ op: 'remove', path: '' }], 'UNKNOWN_PATH on field [0] '],
    [
      'remove where only add is listed',
      [good, good, { op: 'remove', path: '/name' }],
      'WRONG_OPERATION on field [2] /name',
    ],
    [
      'add where only replace is listed',
      [{ op: 'add', path: '/price', value: 1 }],
      'WRONG_OPERATION on field [0] /price',
    ],
    ['no value', [{ op: 'add', path: '/name' }], 'MISSING on field [0] /name.value'],
    [
      'null where nothing can be removed',
      [{ op: 'add', path: '/name', value: null }],
      'WRONG_TYPE on field [0] /name',
    ],
    ['a wrong type', [{ op: 'add', path: '/name', value: 5 }], 'WRONG_TYPE on field [0] /name'],
    [
      'a number beyond all bounds',
      [{ op: 'replace', path: '/price', value: JSON.parse('1e999') }],
      'WRONG_TYPE on field [0] /price',
    ],
    ['too long a text', [good, { op: 'add', path: '/name', value: 'longer' }], 'TOO_LONG on field [1] /name'],
    [
      'a wrong type inside',
      [{ op: 'add', path: '/box', value: { width: '1' } }],
      'WRONG_TYPE on field [0] /box.width',
    ],
    ['a missing key inside', [{ op: 'add', path: '/box', value: {} }], 'MISSING on field [0] /box.width'],
    ['another operation', [good, { op: 'move', path: '/name', value: 'x' }], 'UNKNOWN_VALUE on field 1.op'],
    ['no operation', [{ path: '/name', value: 'x' }], 'MISSING on field 0.op'],
    ['no path', [{ op: 'add', value: 'x' }], 'MISSING on field 0.path'],
    ['a path that is no text', [{ op: 'add', path: 7, value: 'x' }], 'WRONG_TYPE on field 0.path'],
    ['a list in a list', [[good]], 'WRONG_TYPE on field 0'],
    ['a text in the list', [good, 'add'], 'WRONG_TYPE on field 1'],
    ['an empty list', [], 'LIST_EMPTY on field body'],
    ['an object', good, 'WRONG_TYPE on field body'],
    ['nothing', null, 'WRONG_TYPE on field body'],
    ['501 entries', Array.from({ length: 501 }, () => good), 'TOO_LONG on field body'],
  ])('of %s names the place', (_, body, problem) => {
    expect(() => changesOf(body)).toThrow(new RegExp(`validation error ${literally(problem)}$`));
  });

  test('names the first bad entry only', () => {
    const body = [good, { op: 'add', path: '/one', value: 1 }, { op: 'add', path: '/two', value: 1 }];
    expect(() => changesOf(body)).toThrow(/^\n\tvalidation error UNKNOWN_PATH on field \[1\] \/one$/);
  });
});

function literally(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
