import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { RelayProblem } from '../../platform/email/outcome.ts';
import type { Relay, TlsMode } from '../../platform/email/relay.ts';
import { releaseHeldJobs } from '../../platform/jobs/queries.ts';
import { seal, unseal } from '../../platform/sealing.ts';

/** The sealing key of the passwords is derived from that of the installation. */
const PASSWORDS = 'kontor mail servers';
export const DKIM_KEYS = 'kontor signatures of emails';

/** The mail server of a shop without its password. */
export interface StoredRelay {
  host: string;
  port: number;
  tls: TlsMode;
  user: string | null;
  hasPassword: boolean;
  sender: string;
  failures: number;
  blockedUntil: Date | null;
  failingSince: Date | null;
  problem: RelayProblem | null;
  answer: string | null;
}

export function findRelay(db: Queries, shopId: string) {
  return db.one<StoredRelay>(sql`
    select host, port, tls, user_name as user, password_sealed is not null as "hasPassword", sender, failures,
      blocked_until as "blockedUntil", failing_since as "failingSince", problem, answer
    from email_relay where shop_id = ${shopId}`);
}

export interface NewRelay extends Omit<Relay, 'password' | 'updatedAt'> {
  sender: string;
  /** undefined: the stored one stays. */
  password: string | null | undefined;
}

/** Emails that have waited for the former server are tried with this one at once. */
export async function saveRelay(
  tx: Transaction,
  key: Buffer,
  shopId: string,
  { host, port, tls, user, password, sender }: NewRelay,
): Promise<void> {
  const sealed = password === undefined || password === null ? null : seal(key, password, PASSWORDS);
  await tx.run(sql`
    insert into email_relay (shop_id, host, port, tls, user_name, password_sealed, sender, updated_at)
    values (${shopId}, ${host}, ${port}, ${tls}, ${user}, ${sealed}, ${sender}, ${tx.now})
    on conflict (shop_id) do update
    set host = excluded.host, port = excluded.port, tls = excluded.tls, user_name = excluded.user_name,
      password_sealed = case when ${password === undefined} then email_relay.password_sealed
        else excluded.password_sealed end,
      sender = excluded.sender, updated_at = excluded.updated_at, failures = 0, blocked_until = null,
      failing_since = null, problem = null, answer = null`);
  await releaseHeldJobs(tx, shopId);
}

/** The emails go by the server of the installation again, those that have waited too. */
export async function deleteRelay(tx: Transaction, shopId: string): Promise<void> {
  await tx.run(sql`delete from email_relay where shop_id = ${shopId}`);
  await releaseHeldJobs(tx, shopId);
}

/** How a shop sends. */
export interface SendingWay {
  relay: (Relay & { sender: string }) | undefined;
  dkim: { domain: string; selector: string; privateKey: string } | undefined;
}

interface WayRow extends Omit<Relay, 'password' | 'host'> {
  host: string | null;
  passwordSealed: Buffer | null;
  sender: string;
  domain: string | null;
  selector: string;
  privateSealed: Buffer;
}

/** The mail server and the signature of a shop, in one statement; the newest key whose record stands signs. */
export async function loadWay(
  db: Queries,
  loadKey: () => Promise<Buffer>,
  shopId: string,
): Promise<SendingWay> {
  const row = await db.one<WayRow>(sql`
    select relay.host, relay.port, relay.tls, relay.user_name as user, relay.password_sealed as "passwordSealed",
      relay.sender, relay.updated_at as "updatedAt", signing.domain, signing.selector,
      signing.private_sealed as "privateSealed"
    from shop
    left join email_relay relay on relay.shop_id = ${shopId}
    left join (
      select domain, selector, private_sealed from dkim_key
      where shop_id = ${shopId} and seen_at is not null order by created_at desc limit 1
    ) as signing on true
    where shop.shop_id = ${shopId}`);
  if (!row || (row.host === null && row.domain === null)) return { relay: undefined, dkim: undefined };
  const key = await loadKey();
  const { host, port, tls, user, passwordSealed, sender, updatedAt, domain, selector, privateSealed } = row;
  return {
    relay:
      host === null
        ? undefined
        : {
            host,
            port,
            tls,
            user,
            password: passwordSealed && unseal(key, passwordSealed, PASSWORDS),
            sender,
            updatedAt,
          },
    dkim:
      domain === null ? undefined : { domain, selector, privateKey: unseal(key, privateSealed, DKIM_KEYS) },
  };
}

/** Whether the mail server of a shop has a pause; undefined: it has none of its own. */
export function findRelayState(db: Queries, shopId: string) {
  return db.one<{ failures: number; blockedUntil: Date | null }>(sql`
    select failures, blocked_until as "blockedUntil" from email_relay where shop_id = ${shopId}`);
}

/** Milliseconds: a server that is away is asked again after these, doubled with each failure. */
const FIRST_PAUSE = 30_000;
const MAX_PAUSE = 30 * 60_000;
/** Too many wrong passwords lock an account. */
const REFUSED_PAUSE = 15 * 60_000;

export function pauseAfter(failures: number, problem: RelayProblem): number {
  const pause = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures, 10));
  return problem === 'auth' || problem === 'sender' ? Math.max(pause, REFUSED_PAUSE) : pause;
}

/** Records that a server takes no emails. One that was changed meanwhile is left alone. */
export function recordRelayFailure(
  db: Queries,
  shopId: string,
  {
    updatedAt,
    problem,
    answer,
    until,
  }: { updatedAt: Date; problem: RelayProblem; answer: string; until: Date },
) {
  return db.run(sql`
    update email_relay set failures = least(failures + 1, 1000), blocked_until = ${until},
      failing_since = coalesce(failing_since, ${db.serviceNow}), problem = ${problem}, answer = ${answer}
    where shop_id = ${shopId} and updated_at = ${updatedAt}`);
}

/** It takes emails again: what has waited is due at once. */
export async function recordRelaySuccess(db: Queries, shopId: string): Promise<void> {
  const wasFailing = await db.run(sql`
    update email_relay set failures = 0, blocked_until = null, failing_since = null, problem = null, answer = null
    where shop_id = ${shopId} and failures > 0`);
  if (wasFailing > 0) await releaseHeldJobs(db, shopId);
}
