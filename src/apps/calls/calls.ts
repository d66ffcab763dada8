import { createHash } from 'node:crypto';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { CacheKind } from '../../db/cache.ts';
import type { Database, Queries } from '../../db/database.ts';
import { unsealIfPossible } from '../../platform/sealing.ts';
import { tokenTimes } from '../manifest/install.ts';
import { installedApps, type InstalledApp } from '../manifest/installed.ts';
import type { AppCall, CallKind } from '../manifest/schema.ts';
import { currentSigningKey, signToken } from '../manifest/signing-keys.ts';
import { findAppById } from '../queries.ts';
import type { ReceiverPolicy } from '../webhooks/receiver-address.ts';
import { createSender, type WebhookExchange } from '../webhooks/sending.ts';
import { AnswerProblem, questionHeaders, verifiedAnswer } from './answer.ts';
import { createCircuits } from './circuit.ts';
import { createCallLog } from './log.ts';

/** Apps that are asked for one cart; a customer waits for the slowest of them. */
const MAX_APPS = 5;
/** Calls at the same time: of one app, and of the process. */
const MAX_RUNNING_OF_APP = 20;
const MAX_RUNNING = 200;
/** Milliseconds from which a call is in the log although it was answered. */
const SLOW = 400;

/** What an app is asked, and how its answer is read. */
export interface Question<Answer> {
  kind: CallKind;
  /** JSON, without anything that differs between two equal questions. */
  about: object;
  /** Throws an AnswerProblem. */
  read: (answer: unknown) => Answer;
}

/** What an app has said; without an answer its call says what happens. */
export interface AppAnswer<Answer> {
  app: Pick<InstalledApp, 'appId' | 'name'>;
  call: AppCall;
  /** undefined: it has not answered in time, or not as agreed. */
  answer: Answer | undefined;
  /** Milliseconds since 1970: as long as the answer holds for an equal question; 0: not even now. */
  until: number;
}

/** Whose apps are asked. */
export interface AskedShop {
  shopId: string;
  /** Of the settings. */
  version: number;
  /** Scheme and host of the service, which the tokens for apps name. */
  origin: string;
}

export interface AppCalls {
  /** The apps that are to be asked, without asking them. */
  asked(db: Queries, shop: Omit<AskedShop, 'origin'>, kind: CallKind): Promise<readonly AskedApp[]>;
  /** Asks all of them at once. Never throws for what an app does. Call it outside of transactions and locks. */
  ask<Answer>(shop: AskedShop, question: Question<Answer>): Promise<AppAnswer<Answer>[]>;
  /** Asks one of them; undefined: it has not answered in time, or not as agreed. Otherwise the same. */
  askApp<Answer>(shop: AskedShop, asked: AskedApp, question: Question<Answer>): Promise<Answer | undefined>;
  /** Why customers must not be led to an address that an app names; undefined: they may. */
  addressProblem(url: URL): string | undefined;
  /** Writes the log of slow and failed calls now. */
  writeLog(): Promise<void>;
  close(): Promise<void>;
}

export interface AskedApp {
  app: InstalledApp;
  call: AppCall;
}

interface CachedAnswer {
  value: unknown;
  /** Milliseconds since 1970. */
  until: number;
}

const answers: CacheKind<CachedAnswer> = { name: 'answers of apps', limit: { megabytes: 4 } };

interface CallDeps {
  db: Database;
  policy: ReceiverPolicy;
  loadKey: () => Promise<Buffer>;
  metrics: Registry;
  onLogFailure: (error: unknown) => void;
}

/** Calls of apps while a customer waits. */
export function createAppCalls({ db, policy, loadKey, metrics, onLogFailure }: CallDeps): AppCalls {
  const sender = createSender(policy);
  const circuits = createCircuits();
  const log = createCallLog(db, onLogFailure);
  const underWay = new Map<string, Promise<unknown>>();
  const running = new Map<string, number>();
  let runningInAll = 0;
  const duration = new Histogram({
    name: 'app_call_duration_seconds',
    help: 'Duration of calls of apps while a customer waits, by kind and whether the answer could be used',
    labelNames: ['kind', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 2, 8],
    registers: [metrics],
  });
  const spared = new Counter({
    name: 'app_calls_spared_total',
    help: 'Calls of apps that were not made: the answer was cached, the circuit is open, or too many were running',
    labelNames: ['kind', 'reason'],
    registers: [metrics],
  });

  /** The JSON that the app has answered with, or why it can't be used. */
  const exchange = async (
    { shopId, origin }: AskedShop,
    { app: { appId }, call }: AskedApp,
    body: Buffer,
  ): Promise<{ value: unknown; milliseconds: number; statusCode: number | null } | undefined> => {
    const key = await loadKey();
    const [app, signingKey] = await Promise.all([findAppById(db, shopId, appId), currentSigningKey(db, key)]);
    const secret = app?.secretSealed && unsealIfPossible(key, app.secretSealed);
    // It was uninstalled a moment ago, or its secret was lost when the shop was restored.
    if (!secret) {
      const value = new AnswerProblem('The app has no secret: install it again');
      return { value, milliseconds: 0, statusCode: null };
    }
    const at = db.serviceNow;
    const times = tokenTimes(at);
    const messageId = times.jti;
    const page = `call:${call.kind}`;
    const token = signToken(signingKey, { iss: origin, aud: appId, shop: shopId, page, ...times });
    const headers = {
      'kontor-call': call.kind,
      authorization: `Bearer ${token}`,
      ...questionHeaders(secret, { messageId, at, body }),
    };
    const exchanged = await sender.exchange(call.url, headers, body, call.timeoutMs);
    if (!exchanged) return undefined;
    const { milliseconds, statusCode } = exchanged;
    return { value: usable(exchanged), milliseconds, statusCode };

    function usable(answer: WebhookExchange): unknown {
      try {
        if (answer.statusCode === null) throw new AnswerProblem(answer.reason);
        if (answer.statusCode !== 200) throw new AnswerProblem(`The app answered ${answer.statusCode}`);
        if (!answer.isWhole) throw new AnswerProblem('The answer is larger than 64 KB');
        return verifiedAnswer(secret!, { messageId, now: db.serviceNow, ...answer });
      } catch (error) {
        if (error instanceof AnswerProblem) return error;
        throw error;
      }
    }
  };

  /** Makes the call; undefined: no answer that can be used. */
  const call = async <Answer>(
    shop: AskedShop,
    asked: AskedApp,
    body: Buffer,
    read: Question<Answer>['read'],
  ): Promise<Answer | undefined> => {
    const { kind } = asked.call;
    const { appId } = asked.app;
    const circuit = `${shop.shopId} ${appId} ${kind}`;
    const ofApp = running.get(circuit) ?? 0;
    if (ofApp >= MAX_RUNNING_OF_APP || runningInAll >= MAX_RUNNING) {
      spared.inc({ kind, reason: 'busy' });
      return undefined;
    }
    if (!circuits.mayCall(circuit, db.serviceNow)) {
      spared.inc({ kind, reason: 'open' });
      return undefined;
    }
    running.set(circuit, ofApp + 1);
    runningInAll++;
    let isAnswered = false;
    try {
      const called = await exchange(shop, asked, body);
      if (!called) return undefined;
      const { milliseconds, statusCode } = called;
      const result = readAnswer(called.value, read);
      isAnswered = !(result instanceof AnswerProblem);
      duration.observe({ kind, outcome: isAnswered ? 'answered' : 'failed' }, milliseconds / 1000);
      if (!isAnswered || milliseconds >= SLOW) {
        const problem = result instanceof AnswerProblem ? result.message.slice(0, 300) : null;
        log.add(shop.shopId, appId, { kind, milliseconds, statusCode, problem });
      }
      return result instanceof AnswerProblem ? undefined : result;
    } finally {
      if (isAnswered) circuits.succeed(circuit);
      else circuits.fail(circuit, db.serviceNow);
      runningInAll--;
      const left = running.get(circuit)! - 1;
      if (left === 0) running.delete(circuit);
      else running.set(circuit, left);
    }
  };

  const askOne = async <Answer>(
    shop: AskedShop,
    asked: AskedApp,
    { kind, about, read }: Question<Answer>,
  ): Promise<Pick<AppAnswer<Answer>, 'answer' | 'until'>> => {
    const body = Buffer.from(JSON.stringify({ kind, shop: shop.shopId, ...about }));
    const digest = createHash('sha256').update(body).digest('base64url');
    const { url, cacheSeconds } = asked.call;
    // An app that moves, or is installed again, is asked again.
    const key = `${shop.shopId} ${asked.app.appId} ${url} ${digest}`;
    const cached = db.caches.of(answers).get(key);
    if (cached && cached.until > db.serviceNow.getTime()) {
      spared.inc({ kind, reason: 'cached' });
      return { answer: cached.value as Answer, until: cached.until };
    }
    let asking = underWay.get(key) as Promise<Answer | undefined> | undefined;
    if (!asking) {
      asking = call(shop, asked, body, read).finally(() => underWay.delete(key));
      underWay.set(key, asking);
    }
    const answer = await asking;
    if (answer === undefined || cacheSeconds === 0) return { answer, until: 0 };
    const until = db.serviceNow.getTime() + cacheSeconds * 1000;
    db.caches.of(answers).set(key, { value: answer, until }, JSON.stringify(answer).length);
    return { answer, until };
  };

  const asked: AppCalls['asked'] = async (queries, shop, kind) => {
    const apps = await installedApps(queries, shop);
    return apps
      .flatMap((app) => app.calls.filter((one) => one.kind === kind).map((one) => ({ app, call: one })))
      .slice(0, MAX_APPS);
  };

  return {
    asked,
    async ask(shop, question) {
      const apps = await asked(db, shop, question.kind);
      return Promise.all(
        apps.map(async (one) => ({
          app: { appId: one.app.appId, name: one.app.name },
          call: one.call,
          ...(await askOne(shop, one, question)),
        })),
      );
    },
    askApp: async (shop, app, question) => (await askOne(shop, app, question)).answer,
    addressProblem: (url) => policy.problemOf(url),
    writeLog: () => log.write(),
    close() {
      sender.close();
      return log.close();
    },
  };
}

function readAnswer<Answer>(value: unknown, read: (answer: unknown) => Answer): Answer | AnswerProblem {
  if (value instanceof AnswerProblem) return value;
  try {
    return read(value);
  } catch (error) {
    if (error instanceof AnswerProblem) return error;
    throw error;
  }
}
