/** Interprets a failed statement from PostgreSQL's error. */

interface PostgresError {
  code?: unknown;
  constraint?: unknown;
  message?: unknown;
}

/**
 * The name of the violated constraint. On Citus `err.constraint` is empty and names carry the shard's number
 * (`customer_pkey_102008`), so the message is searched for the name too, and the number is cut off. Where Citus copies
 * the rows of a select into shards, the code is lost too, and only the message identifies it.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint, message } = error as PostgresError;
  if (typeof code !== 'string') return undefined;
  const isCopied =
    code === 'XX000' && / violates (?:unique|check|foreign key) constraint "/.test(String(message));
  if (!code.startsWith('23') && !isCopied) return undefined;
  const name =
    typeof constraint === 'string' && constraint !== ''
      ? constraint
      : /constraint "([^"]+)"/.exec(String(message))?.[1];
  return name?.replace(/_\d{6,}$/, '');
}

/** A value that no column can hold (out of range, bad text): the client's fault, never a 500. */
export function isBadValue(error: unknown): boolean {
  const { code } = error as PostgresError;
  return typeof code === 'string' && /^22...$/.test(code);
}

/** More statements wait for a connection than can be answered in time: refusing some is better than delaying all. */
export class DatabaseBusy extends Error {
  override name = 'DatabaseBusy';
  override message = 'Too many statements wait for a connection to the database';
}

/** Another transaction locked a row for longer than a request waits. Nothing was done. */
export class LockWaitTooLong extends Error {
  override name = 'LockWaitTooLong';
  override message = 'A row of the database was locked for too long';
}

/** PostgreSQL gave up waiting for a lock (`lock_timeout`, `nowait`). The transaction is rolled back. */
export function isLockTimeout(error: unknown): boolean {
  return (error as PostgresError).code === '55P03';
}

/**
 * The statement took too long, or a lock that it needs was held for too long. The server has answered and has rolled
 * back, so nothing was done, and other statements may well succeed.
 */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof LockWaitTooLong || isLockTimeout(error) || (error as PostgresError).code === '57014'
  );
}

const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * The database can't be reached, is starting, stopping, was dropped or has no connection left. A transaction that was
 * under way may or may not be committed. On Citus the shop's node may also be down: then a statement fails with a
 * connection code, a commit with only a text.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseBusy) return true;
  const { code, message } = error as PostgresError;
  if (code === 'XX000') return String(message).startsWith('could not commit transaction for shard');
  if (typeof code === 'string') return AWAY.has(code) || /^(08...|57P0.|53300|3D000)$/.test(code);
  return /timeout expired|Connection terminated|not queryable|pool after calling end/.test(String(message));
}
