import type { AssistantNotes, NotedBuyer } from '../../carts/assistant-notes.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Extension } from '../capabilities.ts';
import type { AssistantContext, Link } from '../context.ts';
import type { Message } from '../messages.ts';
import type { Buyer } from './schema.ts';

export const CONSENT: Extension = 'dev.ucp.shopping.buyer_consent';
const MARKETING = 'dev.ucp.consent.marketing';
const BY_EMAIL = 'dev.ucp.consent.marketing.email';

/** What a request says of its buyer. A decision counts only if the buyer has made it. */
export function notedBuyer(
  { consent, ...sent }: Buyer,
  hasConsent: boolean,
): Pick<AssistantNotes, 'buyer' | 'wantsNewsletter'> {
  const fields: Record<keyof NotedBuyer, string | undefined> = {
    firstName: sent.first_name,
    lastName: sent.last_name,
    email: sent.email,
    phoneNumber: sent.phone_number,
  };
  const buyer = Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (text?.trim() ? [[name, text.trim()]] : [])),
  ) as NotedBuyer;
  const marketing = consent?.[MARKETING];
  const decision = marketing?.segments?.[BY_EMAIL] ?? marketing;
  const isDecided = hasConsent && decision?.source === 'platform';
  return { buyer, ...(isDecided && { wantsNewsletter: decision.granted }) };
}

interface ShownDecision {
  granted: boolean;
  source: 'business' | 'platform';
  description: string;
  links?: Link[];
  segments?: Record<string, ShownDecision>;
}

/** The buyer as the answer says it, with what the buyer may agree to; undefined: there is nothing to say. */
export function shownBuyer(
  { buyer = {}, wantsNewsletter }: AssistantNotes,
  extensions: readonly Extension[],
  { locale }: Pick<AssistantContext, 'locale'>,
  links: readonly Link[],
): object | undefined {
  const consent = extensions.includes(CONSENT) && {
    [MARKETING]: decisionOf(wantsNewsletter, locale, links),
  };
  const shown = {
    ...(buyer.firstName !== undefined && { first_name: buyer.firstName }),
    ...(buyer.lastName !== undefined && { last_name: buyer.lastName }),
    ...(buyer.email !== undefined && { email: buyer.email }),
    ...(buyer.phoneNumber !== undefined && { phone_number: buyer.phoneNumber }),
    ...(consent && { consent }),
  };
  return Object.keys(shown).length > 0 ? shown : undefined;
}

/** The shop writes emails only, so the purpose is the same as its one way. */
function decisionOf(
  wantsNewsletter: boolean | undefined,
  locale: string,
  links: readonly Link[],
): ShownDecision {
  const { intro, title } = messagesIn(locale).storefront.newsletter;
  const state = {
    granted: wantsNewsletter ?? false,
    source: wantsNewsletter === undefined ? ('business' as const) : ('platform' as const),
  };
  const privacy = links.filter(({ type }) => type === 'privacy_policy');
  return {
    ...state,
    description: title,
    ...(privacy.length > 0 && { links: privacy }),
    segments: { [BY_EMAIL]: { ...state, description: intro } },
  };
}

/** Without an address nobody can be asked to confirm the newsletter. */
export function consentMessages(
  { buyer, wantsNewsletter }: AssistantNotes,
  { locale }: Pick<AssistantContext, 'locale'>,
): Message[] {
  if (!wantsNewsletter || buyer?.email !== undefined) return [];
  const { wrongEmail } = messagesIn(locale).storefront.newsletter;
  return [{ type: 'warning', code: 'missing_consent_data', path: '$.buyer.email', content: wrongEmail }];
}
