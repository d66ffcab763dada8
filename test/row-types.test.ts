import { randomBytes } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import {
  API,
  SignatureKind,
  SymbolFlags,
  TypeFlags,
  type Project,
  type Type,
  type TypeReference,
} from 'typescript/unstable/sync';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
// It registers the type parsers.
import '../src/db/database.ts';
import { dropDatabase, onServers } from './cluster.ts';
import { TEMPLATE } from './global-setup.ts';
import { findQueryCalls } from './query-calls.ts';

/*
 * `db.one<Row>(sql`...`)` believes its type argument. Here PostgreSQL describes the columns of each such statement, and
 * they are compared with the properties of the row: names, and types as the type parsers return them. A column without a
 * property is an error too, because it is read for nothing. PostgreSQL does not say whether a column may be null, so that
 * is not compared; nor is the inside of JSON, except that it has no dates.
 */

const root = path.join(import.meta.dirname, '..');
const name = `rows_${randomBytes(6).toString('hex')}`;

let api: API;
let project: Project;
let client: pg.Client;

beforeAll(async () => {
  api = new API({ cwd: root });
  const config = path.join(root, 'tsconfig.json');
  project = api.updateSnapshot({ openProjects: [config] }).getProject(config)!;
  await onServers(inject('nodes'), `create database ${name} template ${TEMPLATE}`);
  client = new pg.Client({ ...inject('server'), database: name });
  await client.connect();
});

afterAll(async () => {
  api.close();
  await client.end();
  await dropDatabase(inject('nodes'), name);
});

/** The count of any source of customers, a lease and old rows of any table, and statements made from the catalogue. */
const NOT_IN_SOURCE = [
  'src/admin/customers/segment-queries.ts',
  'src/db/delete-old.ts',
  'src/db/lease.ts',
  'src/platform/backup/content.ts',
  'src/platform/backup/content.ts',
  'src/platform/backup/mark.ts',
  'src/platform/backup/open-export.ts',
];

/**
 * Files with statements of several fragments whose alternatives exclude each other, such as a sort column and its order.
 * Some texts that are made of them are never sent, and refused by PostgreSQL.
 */
const EXCLUDING = [
  'src/admin/products/list-queries.ts',
  'src/catalogue/products/listing-page.ts',
  'src/orders/list.ts',
];

/** A few less than there are. Many less would mean that calls are no longer found. */
const MIN_CALLS = 400;

test('the rows of every statement are of the type that its call names', async () => {
  const calls = findQueryCalls(root, project);
  const others = calls.filter(({ texts }) => texts.length === 0);
  expect(others.map(({ place }) => place.split(':')[0])).toEqual(NOT_IN_SOURCE);

  const wrong: Record<string, string[]> = {};
  let compared = 0;
  for (const { place, row, texts } of calls.filter((call) => !others.includes(call))) {
    if (hasProperties(row)) compared++;
    const [accepted, refused] = await describeAll(texts);
    const problems = accepted.flatMap((columns) => problemsOf(row, columns));
    if (accepted.length === 0 || !EXCLUDING.includes(place.split(':')[0]!)) problems.push(...refused);
    if (problems.length > 0) wrong[place] = [...new Set(problems)];
  }
  expect(wrong).toEqual({});
  console.log(
    `Compared the rows of ${compared} calls, prepared ${calls.length - others.length} of ${calls.length}.`,
  );
  expect(compared).toBeGreaterThanOrEqual(MIN_CALLS);
});

export interface Compared {
  optional?: string;
  missing: string;
  bigint: number;
  numeric: number;
  flag: true | null;
  state: 'open' | 'closed' | null;
  at: string;
  bytes: Buffer;
  ids: string[];
  days: Date[];
  nested: { lines: readonly { at: Date }[] } | null;
  json: unknown;
}

test('a column of another name or type is noticed', async () => {
  const columns = await describeColumns(`
    select 1::bigint as bigint, 1::numeric as numeric, true as flag, $1::text as state, now() as at, 'x'::bytea as bytes,
      '{}'::uuid[] as ids, '{}'::text[] as days, '{}'::json as nested, '1'::jsonb as json, 1 as added, '1 day'::interval`);
  const source = project.program.getSourceFile(import.meta.filename)!;
  const row = project.checker.resolveName('Compared', SymbolFlags.Interface, source)!;
  expect(problemsOf(project.checker.getDeclaredTypeOfSymbol(row), columns)).toEqual([
    'no column missing',
    'numeric is string, not number',
    'at is Date, not string',
    'days is string[], not Date[]',
    'nested is JSON, which has no Date',
    'the row has no added',
    'the row has no interval',
  ]);
  expect((await describeAll(['select 1 as one', 'select two']))[1]).toEqual(['column "two" does not exist']);
});

interface Column {
  name: string;
  dataTypeID: number;
}

/** The columns of the texts that PostgreSQL accepts, and why it refuses the others. */
async function describeAll(texts: readonly string[]): Promise<[accepted: Column[][], refused: string[]]> {
  const [accepted, refused]: [Column[][], string[]] = [[], []];
  for (const text of texts) {
    await describeColumns(text).then(
      (columns) => accepted.push(columns),
      (error: Error) => refused.push(error.message),
    );
  }
  return [accepted, refused];
}

/** Prepares a statement without running it. */
function describeColumns(text: string): Promise<Column[]> {
  return new Promise((resolve, reject) => {
    let columns: Column[] = [];
    client.query({
      submit(connection: pg.Connection) {
        connection.parse({ text, name: '', types: [] }, false);
        connection.describe({ type: 'S', name: '' }, false);
        connection.sync();
      },
      handleRowDescription: ({ fields }: { fields: Column[] }) => void (columns = fields),
      handleReadyForQuery: () => resolve(columns),
      handleError: reject,
    });
  });
}

const { builtins } = pg.types;

const JSON_TYPES = new Set<number>([builtins.JSON, builtins.JSONB]);

/** A value of each other type, as PostgreSQL sends it: the type parsers of the program say what it becomes. */
const SAMPLES = new Map<number, string>([
  [builtins.TEXT, 'a'],
  [builtins.UUID, '01939b5e-6f00-7000-8000-000000000000'],
  [builtins.BOOL, 't'],
  [builtins.INT2, '1'],
  [builtins.INT4, '1'],
  [builtins.INT8, '1'],
  [builtins.FLOAT8, '1'],
  [builtins.NUMERIC, '1'],
  [builtins.BYTEA, String.raw`\x00`],
  [builtins.TIMESTAMPTZ, '2026-11-15 02:25:53.123+00'],
  // Names of the catalogue.
  [19, 'a'],
  // Arrays of text and uuid.
  [1009, '{a}'],
  [2951, '{01939b5e-6f00-7000-8000-000000000000}'],
]);

function problemsOf(row: Type, columns: readonly Column[]): string[] {
  if (!hasProperties(row)) return [];
  const properties = project.checker.getPropertiesOfType(row);
  const types = project.checker.getTypeOfSymbol(properties);
  const named = new Set(properties.map((property) => property.name));
  const unnamed = isGeneric(row) ? [] : columns.filter((column) => !named.has(column.name));
  return [
    ...properties.flatMap((property, index) => {
      const column = columns.find((one) => one.name === property.name);
      if (column) return typeProblems(column, types[index]!);
      return property.flags & SymbolFlags.Optional ? [] : [`no column ${property.name}`];
    }),
    ...unnamed.map((column) => `the row has no ${column.name}`),
  ];
}

/** A row without properties is passed on as a whole, or only its existence matters. */
function hasProperties(row: Type): boolean {
  return project.checker.getPropertiesOfType(row).length > 0;
}

/** The caller of a generic function names the other properties of its rows. */
function isGeneric(type: Type): boolean {
  if (type.isIntersectionType() || type.isUnionType()) return type.getTypes().some(isGeneric);
  return type.isTypeParameter();
}

function typeProblems({ name, dataTypeID }: Column, type: Type): string[] {
  if (JSON_TYPES.has(dataTypeID)) {
    return hasDate(type) ? [`${name} is JSON, which has no Date`] : [];
  }
  const sample = SAMPLES.get(dataTypeID);
  if (sample === undefined) return [`${name} has the type ${dataTypeID}, which has no sample`];
  const kind = kindOfValue(pg.types.getTypeParser(dataTypeID)(sample));
  return kindsOf(type)
    .filter((one) => one !== kind && one !== 'any')
    .map((one) => `${name} is ${kind}, not ${one}`);
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return `${kindOfValue(value[0])}[]`;
  return typeof value === 'object' ? value!.constructor.name : typeof value;
}

/** The kinds of values that a type allows, except null. */
function kindsOf(type: Type): string[] {
  const { checker } = project;
  const { flags } = type;
  if (type.isUnionType()) return [...new Set(type.getTypes().flatMap(kindsOf))];
  if (flags & (TypeFlags.Null | TypeFlags.Undefined)) return [];
  if (flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter)) return ['any'];
  if (flags & TypeFlags.StringLike) return ['string'];
  if (flags & TypeFlags.NumberLike) return ['number'];
  if (flags & TypeFlags.BooleanLike) return ['boolean'];
  if (checker.isArrayLikeType(type))
    return elementsOf(type)
      .flatMap(kindsOf)
      .map((kind) => `${kind}[]`);
  return [type.getSymbol()?.name ?? 'object'];
}

const elementsOf = (type: Type) => project.checker.getTypeArguments(type as TypeReference);

const datesByType = new Map<number, boolean>();

function hasDate(type: Type): boolean {
  const known = datesByType.get(type.id);
  if (known !== undefined) return known;
  // Until the answer is known, for types that contain themselves.
  datesByType.set(type.id, false);
  const answer = partsOf(type).some(hasDate) || /^(?:Date|Buffer)$/.test(type.getSymbol()?.name ?? '');
  datesByType.set(type.id, answer);
  return answer;
}

function partsOf(type: Type): readonly Type[] {
  const { checker } = project;
  if (type.isUnionType() || type.isIntersectionType()) return type.getTypes();
  if (!type.isObjectType()) return [];
  if (checker.isArrayLikeType(type)) return elementsOf(type);
  // The methods of a date are of no interest.
  if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return [];
  return [
    ...checker.getTypeOfSymbol(checker.getPropertiesOfType(type)).filter((one) => one !== undefined),
    ...checker.getIndexInfosOfType(type).map(({ valueType }) => valueType),
  ];
}
