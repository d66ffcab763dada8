import { badRequest, conflict, HttpError } from '../../http/errors.ts';
import type { Words } from '../messages.ts';

const PROBLEM = /validation error ([A-Z_]+) on field (\S+)/g;

/**
 * Runs a call of an operation and rewords its field problems with the labels of the form: `labels` are the labels of
 * fields by the last part of their path, `billingAddress.city`, without the place in a list. `taken` is the message
 * for a value that already exists.
 */
export async function explained<Answer>(
  words: Words,
  labels: Readonly<Record<string, string>>,
  call: () => Promise<Answer>,
  taken?: string,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 409 && taken !== undefined) throw conflict(taken);
    const problems = [...error.message.matchAll(PROBLEM)];
    if (problems.length === 0) throw error;
    const texts: Readonly<Record<string, string | undefined>> = words.validation;
    throw badRequest(
      problems
        .map(([, code, path]) => {
          const name = path!
            .split(/[./]/)
            .at(-1)!
            .replace(/\[\d+\]$/, '');
          return `${labels[name] ?? name} ${texts[code!] ?? words.validation.other}.`;
        })
        .join(' '),
    );
  }
}
