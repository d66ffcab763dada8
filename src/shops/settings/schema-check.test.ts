import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { MAX_BLOCK, quickestBlock } from '../../../test/event-loop.ts';
import { generatedSettings } from '../../../test/generated-settings.ts';
import { halfOf, SEED } from '../../../test/seed.ts';
import { settingsFormat } from '../../composition/settings-format.ts';
import { parseSettingsFile } from './file.ts';
import { createSettingsFormat } from './format.ts';
import { formProblems } from './problem.ts';
import { KEYWORDS, violations, type SchemaPart } from './schema-check.ts';

const demo = await readFile(new URL('../../../assets/demo/settings.yaml', import.meta.url), 'utf8');

/** The keywords of a schema and of all schemas in it. */
function keywordsOf(schema: SchemaPart): string[] {
  const { properties = {}, patternProperties = {}, definitions = {}, items } = schema;
  const parts = [
    ...Object.values({ ...properties, ...patternProperties, ...definitions }),
    ...(items ? [items] : []),
  ];
  return [...Object.keys(schema), ...parts.flatMap(keywordsOf)];
}

test('the schema of the settings has no keyword that is not checked', () => {
  const known = [...KEYWORDS.checked, ...KEYWORDS.describing];
  const used = new Set(keywordsOf(settingsFormat.schema));
  expect([...used].filter((keyword) => !known.includes(keyword))).toEqual([]);
  expect(KEYWORDS.checked.filter((keyword) => !used.has(keyword))).toEqual([]);
});

const ajv = new Ajv({
  validateFormats: false,
  allErrors: true,
  strict: false,
  strictNumbers: true,
  code: { optimize: false },
});

/** Values of all types, at the edges of what is allowed somewhere. */
const ODD: readonly unknown[] = [
  null,
  '',
  ' ',
  'de_DE',
  'x'.repeat(300),
  '😀'.repeat(60),
  -1,
  0,
  0.001,
  101,
  1e300,
  Infinity,
  NaN,
  true,
  [],
  [null, 'a', 1],
  {},
  { de_DE: 'Text', DE: 19, odd: 1 },
  Array.from({ length: 3_000 }, () => 'a'),
];

type Node = Record<string | number, unknown>;

/** Every object and list of a value. */
function nodesOf(value: unknown): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Node, ...Object.values(value).flatMap(nodesOf)];
}

interface Change {
  node: number;
  key: number;
  odd: number;
  kind: 'replace' | 'remove' | 'add';
}

function change(file: unknown, { node, key, odd, kind }: Change): void {
  const nodes = nodesOf(file);
  const changed = nodes[node % nodes.length]!;
  const keys = Object.keys(changed);
  const name = keys[key % Math.max(keys.length, 1)];
  if (kind === 'add' || name === undefined) {
    if (Array.isArray(changed)) changed.push(ODD[odd]);
    else changed[['unknown', 'de_DE', 'DE', '$schema', 'toString'][key % 5]!] = ODD[odd];
  } else if (kind === 'replace') changed[name] = ODD[odd];
  else if (Array.isArray(changed)) changed.splice(Number(name), 1);
  else delete changed[name];
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    node: fc.nat(10_000),
    key: fc.nat(100),
    odd: fc.nat(ODD.length - 1),
    kind: fc.constantFrom('replace', 'replace', 'remove', 'add'),
  }),
  { maxLength: 6 },
);

test(`finds in files with mistakes what Ajv finds (seed ${SEED})`, () => {
  const validate = ajv.compile(settingsFormat.schema);
  /** Where, and what; Ajv goes on to check the values of a text of the wrong type. */
  const byAjv = (file: unknown) => {
    validate(file);
    const errors = validate.errors ?? [];
    const wrong = new Set(
      errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
    );
    return errors
      .filter(({ keyword, instancePath }) => keyword === 'type' || !wrong.has(instancePath))
      .map(({ keyword, instancePath, params }) =>
        [
          instancePath,
          keyword,
          params['additionalProperty'] ?? params['missingProperty'] ?? params['limit'],
        ].join(' '),
      )
      .toSorted();
  };
  const found = (file: unknown) =>
    [...violations(settingsFormat.schema, file)]
      .map((violation) =>
        [
          violation.path
            .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
            .join(''),
          violation.keyword,
          'key' in violation ? violation.key : 'limit' in violation ? violation.limit : undefined,
        ].join(' '),
      )
      .toSorted();
  const kinds = new Set<string>();
  const base = fc.oneof(
    { arbitrary: fc.constant(null), weight: 9 },
    { arbitrary: generatedSettings, weight: 1 },
  );
  fc.assert(
    fc.property(base, changes, (settings, given) => {
      const file = structuredClone(settings ?? parse(demo)) as unknown;
      for (const one of given) change(file, one);
      const expected = byAjv(file);
      for (const one of expected) kinds.add(one.split(' ').find((word) => KEYWORDS.checked.includes(word))!);
      expect(found(file)).toEqual(expected);
    }),
    { seed: SEED, numRuns: halfOf(200) },
  );
  // The mistakes are of nearly every kind.
  expect(kinds.size).toBeGreaterThan(6);
});

test('names the first hundred problems of a file that has any number of them', () => {
  const file = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key${index}`, 1]));
  expect(formProblems(file, settingsFormat.schema)).toHaveLength(100);
});

test('the first check of a file keeps nobody else waiting', async () => {
  const check = async () => {
    parseSettingsFile(demo, createSettingsFormat(settingsFormat.sections));
  };
  expect(await quickestBlock(check)).toBeLessThan(MAX_BLOCK);
});
