import { createHash } from 'node:crypto';
import { isCurrency, toMinor } from '../../kernel/money.ts';

/** Money that came in on the account, as a statement says. */
export interface BankCredit {
  /** `2026-11-15` */
  bookedOn: string;
  /** Minor units of the currency. */
  amount: number;
  currency: string;
  payer: string;
  /** The payer's text, in one line. */
  text: string;
  /** The reference of the bank or the payer; '': none. */
  reference: string;
}

/** As many characters as are stored. */
export const MAX_PAYER_LENGTH = 200;
export const MAX_PURPOSE_LENGTH = 1_000;
export const MAX_BANK_REFERENCE_LENGTH = 200;

/** In one line and cut; PostgreSQL has no character 0. */
export function boundedLine(text: string, length: number): string {
  return text
    .slice(0, 4 * length)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, length)
    .toWellFormed();
}

/** The amount in minor units; undefined: it is not an amount of the currency, or larger than any payment. */
export function creditAmount(decimal: string, currency: string): number | undefined {
  if (!isCurrency(currency)) return undefined;
  const minor = toMinor(decimal, currency);
  return minor !== undefined && Math.abs(minor) <= MAX_AMOUNT ? minor : undefined;
}

const MAX_AMOUNT = 100_000_000_000;

/** `2026-11-15` of the ways in which banks write days; undefined: it is none. */
export function dayIn(text: string): string | undefined {
  const match =
    /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/.exec(text) ??
    /^(?<day>\d{1,2})[./](?<month>\d{1,2})[./](?<year>\d{4}|\d\d)$/.exec(text);
  if (!match) return undefined;
  const { year, month, day } = match.groups as { year: string; month: string; day: string };
  const iso = `${year.length === 2 ? '20' : ''}${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const date = new Date(`${iso}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso) ? iso : undefined;
}

/**
 * A key for each credit of a statement. It is made of everything that the bank says of it, so a credit has the same key in
 * every statement that names it. Of equal credits on one day each has its own, by their number.
 */
export function* creditKeys(credits: Iterable<BankCredit>): Generator<BankCredit & { key: string }> {
  const seen = new Map<string, number>();
  for (const credit of credits) {
    const { bookedOn, amount, currency, payer, text, reference } = credit;
    const facts = JSON.stringify([bookedOn, amount, currency, payer, text, reference]);
    const count = seen.get(facts) ?? 0;
    seen.set(facts, count + 1);
    yield { ...credit, key: createHash('sha256').update(`${facts} ${count}`).digest('hex') };
  }
}
