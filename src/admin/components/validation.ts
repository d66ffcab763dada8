import { conflict, HttpError } from '../../http/errors.ts';
import { SellerIncomplete } from '../../orders/documents/seller-incomplete.ts';
import type { AdminMessages } from '../messages.ts';

/** The labels of fields by the last part of their path: `city` for `billingAddress.city`. */
export type Labels = Readonly<Record<string, string>>;

/** A refusal in the reader's language, as far as it is about values. */
export function refusalText(messages: AdminMessages, refusal: HttpError, labels: Labels = {}): string {
  if (refusal instanceof SellerIncomplete) return messages.orders.documents.sellerIncomplete;
  const { problems, message } = refusal;
  if (problems.length === 0) return message;
  const texts: Readonly<Record<string, string | undefined>> = messages.validation;
  return problems
    .map(({ code, field }) => {
      const name = field
        .split(/[./]/)
        .at(-1)!
        .replace(/\[\d+\]$/, '');
      return `${labels[name] ?? name} ${texts[code] ?? messages.validation.other}.`;
    })
    .join(' ');
}

/** Runs a call of an operation, with this text for a value that exists already. */
export async function withConflictText<Answer>(text: string, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof HttpError && error.status === 409 ? conflict(text) : error;
  }
}
