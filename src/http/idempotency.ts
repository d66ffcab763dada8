import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { Refusal } from './errors.ts';

/**
 * `Idempotency-Key`: the first answer to a write is stored in the write's own transaction and replayed for 24 hours. A
 * refused write stores nothing, because it changed nothing. Of two concurrent ones, the second waits on the unique key
 * until the first has committed.
 */

const STORED_FOR = 24 * 3_600_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The rendered body; null for 204. */
  body: string | null;
}

/** Hides the stored answers that hold a secret. */
export interface AnswerSeal {
  seal: (text: string) => Promise<string>;
  unseal: (sealed: string) => Promise<string>;
}

export interface KeyedRequest {
  /** undefined: a request of the host. */
  shopId: string | undefined;
  caller: string;
  key: string;
  method: string;
  url: string;
  body: unknown;
}

export function checkKey(key: string): void {
  if (!KEY.test(key)) throw new Refusal('IDEMPOTENCY_KEY_MALFORMED');
}

/** Runs `work` unless this key was answered before; then it returns the first answer. With a seal it is stored sealed. */
export async function onceOnly(
  tx: Transaction,
  request: KeyedRequest,
  work: () => Promise<Answer>,
  answerSeal?: AnswerSeal,
): Promise<{ answer: Answer; replayed: boolean }> {
  const caller = sha256(request.caller);
  const requestHash = sha256(`${request.method} ${request.url}\n${JSON.stringify(request.body) ?? ''}`);
  if (!(await claimKey(tx, request, caller, requestHash))) {
    const stored = await selectAnswer(tx, request, caller);
    if (!stored || !stored.request_hash.equals(requestHash)) {
      throw new Refusal('IDEMPOTENCY_KEY_REUSED');
    }
    return { answer: answerSeal ? await unsealed(stored, answerSeal) : stored, replayed: true };
  }
  const answer = await work();
  await updateAnswer(tx, request, caller, answerSeal ? await sealed(answer, answerSeal) : answer);
  return { answer, replayed: false };
}

async function sealed({ status, headers, body }: Answer, { seal }: AnswerSeal): Promise<Answer> {
  return { status, headers: {}, body: await seal(JSON.stringify({ headers, body })) };
}

async function unsealed({ status, body }: Answer, { unseal }: AnswerSeal): Promise<Answer> {
  const hidden = JSON.parse(await unseal(body!)) as Pick<Answer, 'headers' | 'body'>;
  return { status, ...hidden };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** 1 when the key is ours: it is new, or older than a day. */
function claimKey(tx: Transaction, { shopId, key }: KeyedRequest, caller: Buffer, requestHash: Buffer) {
  const expired = new Date(tx.serviceNow.getTime() - STORED_FOR);
  if (shopId === undefined) {
    return tx.run(sql`
      insert into host_answer (caller, key, request_hash, created_at)
      values (${caller}, ${key}, ${requestHash}, ${tx.serviceNow})
      on conflict (caller, key) do update
      set request_hash = excluded.request_hash, created_at = excluded.created_at
      where host_answer.created_at < ${expired}`);
  }
  return tx.run(sql`
    insert into idempotent_answer (shop_id, caller, key, request_hash, created_at)
    values (${shopId}, ${caller}, ${key}, ${requestHash}, ${tx.serviceNow})
    on conflict (shop_id, caller, key) do update
    set request_hash = excluded.request_hash, created_at = excluded.created_at
    where idempotent_answer.created_at < ${expired}`);
}

type StoredAnswer = Answer & { request_hash: Buffer };

function selectAnswer(tx: Transaction, { shopId, key }: KeyedRequest, caller: Buffer) {
  if (shopId === undefined) {
    return tx.one<StoredAnswer>(sql`
      select request_hash, status, headers, body from host_answer where caller = ${caller} and key = ${key}`);
  }
  return tx.one<StoredAnswer>(sql`
    select request_hash, status, headers, body from idempotent_answer
    where shop_id = ${shopId} and caller = ${caller} and key = ${key}`);
}

function updateAnswer(tx: Transaction, { shopId, key }: KeyedRequest, caller: Buffer, answer: Answer) {
  const { status, headers, body } = answer;
  if (shopId === undefined) {
    return tx.run(sql`
      update host_answer set status = ${status}, headers = ${headers}, body = ${body}
      where caller = ${caller} and key = ${key}`);
  }
  return tx.run(sql`
    update idempotent_answer set status = ${status}, headers = ${headers}, body = ${body}
    where shop_id = ${shopId} and caller = ${caller} and key = ${key}`);
}

/** An answer that is replaced meanwhile is not deleted, because replacing moves its time. */
export const answerCleanup = {
  name: 'idempotent answers',
  run: async (db: Database, limit: number): Promise<number> => {
    const oldest = new Date(db.now.getTime() - STORED_FOR);
    const old = await db.many<{ shopId: string; caller: Buffer; key: string }>(sql`
      select shop_id as "shopId", caller, key from idempotent_answer
      where created_at < ${oldest} order by created_at limit ${limit}`);
    await db.run(sql`
      delete from idempotent_answer answer
      using unnest(${old.map(({ shopId }) => shopId)}::text[], ${old.map(({ caller }) => caller)}::bytea[],
        ${old.map(({ key }) => key)}::text[]) as old (shop_id, caller, key)
      where answer.shop_id = old.shop_id and answer.caller = old.caller and answer.key = old.key
        and answer.created_at < ${oldest}`);
    return old.length;
  },
};

/** The same for the requests of the host. */
export const hostAnswerCleanup = {
  name: 'answers to the host',
  run: (db: Database, limit: number): Promise<number> => {
    const oldest = new Date(db.now.getTime() - STORED_FOR);
    return db.run(sql`
      delete from host_answer where created_at < ${oldest} and (caller, key) in (
        select caller, key from host_answer where created_at < ${oldest} order by created_at limit ${limit})`);
  },
};
