import { messagesIn } from '../kernel/messages.ts';
import type { Content } from './content.ts';

const UNTAXED = ['intraCommunity', 'reverseCharge', 'export', 'smallBusiness', 'voucher'] as const;

/** Why no tax is charged, in a line for each reason; none for an order whose taxes are all charged. */
export function untaxedReasons(
  { taxes, taxType }: Pick<Content, 'taxes' | 'taxType'>,
  locale: string,
): string[] {
  if (taxType === 'NONE') return [];
  const messages = messagesIn(locale).untaxed;
  return UNTAXED.filter((reason) =>
    taxes.some(({ treatment, amount }) => treatment === reason && amount !== 0),
  ).map((reason) => messages[reason]);
}
