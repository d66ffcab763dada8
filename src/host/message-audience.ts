import type { HostMessage, MessageTexts } from './message-queries.ts';

/** Whether a message is for the people of a shop. */
export const isFor = (
  { plans, shopIds }: Pick<HostMessage, 'plans' | 'shopIds'>,
  { shopId, plan }: { shopId: string; plan: string | null },
): boolean =>
  (plans === null || plans.includes(plan ?? '')) && (shopIds === null || shopIds.includes(shopId));

/** Whether it is shown now. */
export const isCurrent = (
  { startsAt, endsAt }: Pick<HostMessage, 'startsAt' | 'endsAt'>,
  now: Date,
): boolean => startsAt <= now && now < endsAt;

/** The text in the language of a reader: `de`, or `de_AT`. */
export const textOfMessage = (texts: MessageTexts, language: string): string =>
  texts[language.slice(0, 2) as keyof MessageTexts] ?? texts.en;
