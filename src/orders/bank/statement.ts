import { isUtf8 } from 'node:buffer';
import { decodedText } from '../../catalogue/products/csv-file.ts';
import { newPauses } from '../../http/pauses.ts';
import { camtCredits } from './camt.ts';
import { creditKeys, type BankCredit } from './credit.ts';
import { csvCredits } from './csv-statement.ts';
import { StatementProblem } from './statement-problem.ts';

/** Bytes of a file; a month of a busy shop has one or two megabytes. */
export const MAX_STATEMENT_BYTES = 5 * 1_048_576;
const MAX_CREDITS = 10_000;

/** Encodings of which every byte is a character. */
const SINGLE_BYTE = /encoding\s*=\s*["'](?:iso-8859-1|iso-8859-15|windows-1252)["']/i;

/**
 * The credits of a statement as a bank exports it, CAMT.053 or CSV, each with its key. Others are served meanwhile. Throws a
 * StatementProblem.
 */
export async function readStatement(
  bytes: Buffer,
  { currency }: { currency: string },
): Promise<(BankCredit & { key: string })[]> {
  const text = await decodedText(bytes);
  const start = text.replace('\u{feff}', '').slice(0, 200).trimStart();
  if (start === '') throw new StatementProblem('empty');
  const isXml = start.startsWith('<');
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isXml && !isWide && !isUtf8(bytes) && !SINGLE_BYTE.test(start)) throw new StatementProblem('encoding');
  const pause = newPauses();
  const credits: BankCredit[] = [];
  for (const credit of isXml ? camtCredits(text) : csvCredits(text, currency)) {
    if (credit) credits.push(credit);
    if (credits.length > MAX_CREDITS) throw new StatementProblem('tooMany');
    await pause();
  }
  const keyed: (BankCredit & { key: string })[] = [];
  for (const credit of creditKeys(credits)) {
    keyed.push(credit);
    await pause();
  }
  return keyed;
}
