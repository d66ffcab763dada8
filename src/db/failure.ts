/** What a failed statement means, told from PostgreSQL's error. */

interface PostgresError {
  code?: unknown;
  constraint?: unknown;
  message?: unknown;
}

/**
 * The name of the violated constraint. On Citus `err.constraint` is empty and names carry the shard's number
 * (`customer_pkey_102008`), so the name is also looked for in the message and the number is cut off.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint, message } = error as PostgresError;
  if (typeof code !== 'string' || !code.startsWith('23')) return undefined;
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

/** More statements wait for a connection than can be answered in time: better to say so than to be late with all. */
export class DatabaseBusy extends Error {
  override name = 'DatabaseBusy';
  override message = 'Too many statements wait for a connection to the database';
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

/** The database can't be reached, is starting, stopping, was dropped, has no connection left, or took too long. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseBusy) return true;
  const { code, message } = error as PostgresError;
  if (typeof code === 'string') return AWAY.has(code) || /^(08...|57P0.|57014|53300|3D000)$/.test(code);
  return /timeout expired|Connection terminated|not queryable|pool after calling end/.test(String(message));
}
