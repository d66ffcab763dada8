import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import pino from 'pino';
import { inject } from 'vitest';
import { buildApp, type AppDeps } from '../src/composition/app.ts';
import type { CartStoreOptions } from '../src/carts/cart-store.ts';
import { readConfig, type Config } from '../src/config.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../src/db/database.ts';
import { checkAnswer } from './answer-schema.ts';
import { dropDatabase, onServers } from './cluster.ts';
import { TEMPLATE } from './global-setup.ts';
import { IS_POOLED } from './pgbouncer.ts';
import type { S3Server } from './s3-server.ts';

/** A whole service on a database of its own, cloned from the migrated template: built as production builds it. */
export interface Service {
  app: FastifyInstance;
  db: Database;
  /** With a folder of its own for what is not in the database. */
  config: Config;
  /** The name of its database. */
  database: string;
  /** Sets the service's clock; undefined lets it run again. */
  setClock(now: Date | undefined): void;
  /** A call of the API: `call('GET', '/DemoShop/customers', { token })`, or of `/manage/shops/DemoShop/...`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  token?: string;
  /** Of the cart that the path names. */
  cartToken?: string;
  /** Text and bytes are sent as they are, everything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The client's address; 127.0.0.1 when not said. */
  address?: string;
}

export interface Answer {
  status: number;
  headers: LightMyRequestResponse['headers'];
  text: string;
  /** The parsed body; tests look at it as they would in a client, so it is not typed. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** How the services of this test file hold their carts; a file may switch off what is there for speed alone. */
export const cartStoreOptions: CartStoreOptions = { cache: true, batch: true };

/** Where the services of this test file store images; a file may start an S3 server for them. */
export const mediaServer: { s3: S3Server | undefined } = { s3: undefined };

/**
 * With `beside`, another process on the database of that service, which must be closed last. With `providers`, other
 * payment providers than the built-in ones; with `log`, a log that the test reads; with `template`, the rows of that
 * database.
 */
export async function startService(
  environment: Record<string, string> = {},
  beside?: Service,
  { providers, log, template }: Partial<Pick<AppDeps, 'providers' | 'log'> & { template: string }> = {},
): Promise<Service> {
  const { name, drop } = beside
    ? { name: beside.database, drop: async () => {} }
    : await cloneDatabase(template);
  let fixed: Date | undefined;
  const clock = () => fixed ?? new Date();
  const db = openDatabase({ ...databaseOptions(name), clock });
  const folder =
    beside?.config.KONTOR_DATA ?? (await mkdtemp(path.join(tmpdir(), `kontor-test-${process.pid}-`)));
  const config = readConfig({
    LOG_LEVEL: 'silent',
    KONTOR_DATA: folder,
    // No test asks the real one.
    VIES_URL: 'off',
    MEDIA_URL: mediaServer.s3?.urlOf(path.basename(folder)),
    DATABASE_NAMED_STATEMENTS: String(!IS_POOLED),
    ...environment,
  });
  const app = await buildApp({
    config,
    db,
    log: log ?? pino({ level: config.LOG_LEVEL }),
    cartStoreOptions,
    ...(providers && { providers }),
  });
  checkAnswers(app);
  return {
    app,
    db,
    config,
    database: name,
    setClock: (now) => {
      fixed = now;
    },
    call: async (method, path, options = {}) => {
      const response = await app.inject(requestOf(method, path, options));
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: isJson && response.body !== '' ? JSON.parse(response.body) : undefined,
      };
    },
    close: async () => {
      await app.close();
      await db.close();
      await drop();
      if (!beside) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Every JSON answer is checked against the schema of its operation, also where a test does not look at it. */
function checkAnswers(app: FastifyInstance): void {
  const inject = app.inject.bind(app) as (request: InjectOptions | string) => Promise<LightMyRequestResponse>;
  app.inject = (async (request: InjectOptions | string) => {
    const response = await inject(request);
    const isStream = typeof request !== 'string' && request.payloadAsStream;
    if (!isStream) checkAnswer(response);
    return response;
  }) as FastifyInstance['inject'];
}

/** The address of a path: those of the contract are short, `/manage/shops/...` and `/host/...` are said in full. */
export function urlOf(path: string): string {
  return path.startsWith('/manage/') || path.startsWith('/host/') ? path : `/rs/shops${path}`;
}

function requestOf(
  method: string,
  path: string,
  { token, cartToken, body, headers, address }: CallOptions,
): InjectOptions {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  return {
    method,
    url: urlOf(path),
    ...(address === undefined ? {} : { remoteAddress: address }),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(cartToken === undefined ? {} : { 'x-epages-cart-token': cartToken }),
      ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
  };
}

/** How to open a database of the tests. Debian's PgBouncer (1.18) cannot keep prepared statements. */
export function databaseOptions(database: string): DatabaseOptions {
  return { connection: { ...inject('connection'), database }, namedStatements: !IS_POOLED };
}

/** The address of a database of the tests, for commands that open it themselves. */
export function databaseUrl(database: string): string {
  const { host = 'localhost', port = 5432, user = '' } = inject('connection');
  return `postgres:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
}

/** The same for commands that read their whole configuration from the environment. */
export function databaseEnvironment(database: string): Record<string, string> {
  return { DATABASE_URL: databaseUrl(database), DATABASE_NAMED_STATEMENTS: String(!IS_POOLED) };
}

/** A fresh database with the schema: cloning a template takes some 20 ms, and on Citus a second. */
export async function cloneDatabase(template?: string): Promise<{ name: string; drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await createDatabase(name, template);
  return { name, drop: () => dropDatabase(inject('nodes'), name) };
}

/** Copies the files: to write them to the log first, as PostgreSQL does by itself, takes three times as long. */
export function createDatabase(name: string, template = TEMPLATE): Promise<void> {
  return onServers(inject('nodes'), `create database ${name} template ${template} strategy file_copy`);
}
