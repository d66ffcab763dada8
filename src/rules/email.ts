import { adminUrl } from '../http/links.ts';
import type { Messages } from '../kernel/messages.ts';
import { SHOP_PLACEHOLDERS, type EmailKind, type EmailMessages } from '../platform/email/kind.ts';
import type { RuleResource } from './things.ts';

/** The words of a merchant, with the facts of the thing filled in. */
export interface RuleEmail {
  subject: string;
  text: string;
  /** The rule. */
  rule: string;
  resource: RuleResource;
  resourceId: string | null;
  /** Of whom it is: what waits about them is erased with them. */
  customerId: string | null;
}

const lines = (text: string) => text.split(/\r?\n/).map((line) => ({ text: line, as: 'plain' as const }));

const SAMPLE: RuleEmail = {
  subject: 'Order 1042 is large',
  text: 'Please check it before it is sent.',
  rule: 'Large orders',
  resource: 'order',
  resourceId: '019A8C1E-0000-7000-8000-000000001001',
  customerId: '019A8C1E-0000-7000-8000-000000001002',
};

const PLACEHOLDERS: EmailKind<RuleEmail>['placeholders'] = {
  ...SHOP_PLACEHOLDERS,
  subject: { meaning: 'The subject that the rule says.', value: ({ subject }) => subject },
  rule: { meaning: 'The name of the rule.', value: ({ rule }) => rule },
};

const PATHS: Readonly<Record<RuleResource, string>> = {
  order: '/orders/',
  product: '/products/',
  customer: '/customers/',
  shop: '/automation',
};

type RuleWords = EmailMessages & Messages['email']['rule'];

export const ruleEmail: EmailKind<RuleEmail, RuleWords> = {
  name: 'rule',
  occasion: 'To the shop, when a rule of the merchant says so.',
  example: { en_GB: { subject: '{subject}' } },
  isLimited: false,
  sample: SAMPLE,
  placeholders: PLACEHOLDERS,
  sections: ({ text }, { message }) => [{ title: message, rows: lines(text) }],
  link: ({ resource, resourceId }, context) => adminUrl(context, PATHS[resource] + (resourceId ?? '')),
  messages: (email) => ({ ...email.aboutShop, ...email.rule }),
};

type CustomerWords = EmailMessages & Messages['email']['ruleCustomer'];

/** Strangers can cause it to any address by ordering with it, so it is limited. */
export const ruleCustomerEmail: EmailKind<RuleEmail, CustomerWords> = {
  name: 'ruleCustomer',
  occasion: 'To the customer, when a rule of the merchant says so.',
  example: { en_GB: { subject: '{subject}' } },
  isLimited: true,
  sample: SAMPLE,
  placeholders: PLACEHOLDERS,
  sections: ({ text }, { message }) => [{ title: message, rows: lines(text) }],
  link: (_, context) => context.storefront,
  messages: (email) => email.ruleCustomer,
};
