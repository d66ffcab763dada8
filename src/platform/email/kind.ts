import type { Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import type { Messages } from '../../kernel/messages.ts';
import type { Attachment } from './delivery.ts';
import type { LetterLink, Row, LetterSection } from './letter.ts';
import { LINES } from './placeholders.ts';

/** The built-in words of a kind of email in one language. */
export interface EmailMessages {
  subject: string;
  /** Blank lines separate paragraphs. A line whose placeholder has no value is left out. */
  text: string;
  /** The label of the link. */
  link: string;
  /** Why the recipient gets this email. */
  footer: string;
}

/** The data of an email before its facts are read. */
export interface EmailRequest<Facts extends object = object> {
  shopId: string;
  locale: string;
  facts: Facts;
}

/** Data of every email beside its own facts: the shop that sends it, and its recipient. */
export interface EmailContext {
  shopId: string;
  /** The name of the shop in the recipient's locale. */
  shopName: string;
  /** Base address of its storefront: `https://shop.example/shop/DemoShop`. */
  storefront: string;
  /** Scheme and host of the service, where the admin is. */
  origin: string;
  to: string;
  /** The locale that links must name; undefined: the shop's default. */
  locale: string | undefined;
  /** Links that prove something are signed with a key derived from it. */
  installationKey: Buffer;
}

export interface Placeholder<Facts extends object, Words extends EmailMessages> {
  /** Explains it to the author of the shop's own words. */
  meaning: string;
  /** null: there is no value, for example no tracking code. */
  value(facts: Facts, context: EmailContext, messages: Words): string | null;
}

/**
 * A kind of email, defined by the module that sends it. `src/composition/email-kinds.ts` lists them all: the worker, the schema of
 * the settings file and its checks get that list.
 */
export interface EmailKind<Facts extends object = object, Words extends EmailMessages = EmailMessages> {
  /** Stands in the queue and in settings files, so it must not change. */
  name: string;
  /** When it is sent. */
  occasion: string;
  /** An example of a shop's own words, for the schema of the settings file. */
  example: object;
  /**
   * A link with a secret must not be a placeholder: a shop could write it into the address of another server, which
   * would then learn the secret. Such a link is `link` or one of `moreLinks`, which a shop's words cannot change.
   */
  placeholders: Readonly<Record<string, Placeholder<Facts, Words>>>;
  /**
   * Secret links that used to be placeholders. Saved words that name them are sent without them; new words must not.
   */
  formerPlaceholders?: readonly string[];
  /** The table that `{lines}` stands for. */
  lines?: { meaning: string; rows(facts: Facts, messages: Words): Row[] };
  /** Content below the letter, also with the shop's own words. */
  sections?(facts: Facts, messages: Words): LetterSection[];
  /** Takes its built-in words from the message catalogue. */
  messages(email: Messages['email']): Words;
  link(facts: Facts, context: EmailContext): string;
  /** Absent: the label is `words.link`. */
  linkLabel?(facts: Facts, messages: Words): string;
  /** Stand below the link. */
  moreLinks?(facts: Facts, context: EmailContext, messages: Words): LetterLink[];
  /**
   * Whether strangers can cause this email to any address, by ordering with it or by typing it into a form: those
   * count against the daily limit of the recipient. Emails caused by a merchant (an invoice, a shipment, a refund) are
   * always sent, because strangers could otherwise use up the limit of a customer first.
   */
  isLimited: boolean;
  /**
   * It opens the admin to its recipient alone, so it is sent in a sandbox too: people who work there must not read it.
   * Absent: it is the shop's.
   */
  isOfService?: boolean;
  /** Whether an email of a limited kind is sent regardless of the limit, because a stranger can't cause this one. */
  isAlwaysSent?(facts: Facts): boolean;
  /**
   * Reads the facts of an email when it is sent, where the queue holds only the ids of its subject. undefined: the
   * subject no longer exists, and nothing is sent.
   */
  load?(db: Queries, email: EmailRequest): Promise<Facts | undefined>;
  /** Facts that are secrets and stand nowhere in clear: they are opened when the email is sent. */
  secrets?(db: Queries, email: EmailRequest<Facts>, config: Config): Promise<Partial<Facts>>;
  /** undefined: the subject of the email no longer exists, and nothing is sent. */
  attachments?(db: Queries, email: EmailRequest<Facts>, config: Config): Promise<Attachment[] | undefined>;
  /** Made-up facts, to preview an email; a function where amounts or dates depend on the locale. */
  sample?: Facts | ((locale: string) => Facts);
  /** Records that the email was not sent because of the daily limit. It may be called twice for one email. */
  onLimited?(db: Queries, shopId: string, emailId: string, facts: Facts): Promise<void>;
}

/** The placeholders that every kind has. */
export const SHOP_PLACEHOLDERS = {
  shopName: { meaning: 'Name of the shop.', value: (_: object, { shopName }: EmailContext) => shopName },
  shopUrl: {
    meaning: "Address of the shop's storefront.",
    value: (_: object, { storefront }: EmailContext) => storefront,
  },
};

export function sampleFacts({ sample = {} }: EmailKind, locale: string): object {
  return typeof sample === 'function' ? sample(locale) : sample;
}

/** The meaning of each placeholder of a kind, `{lines}` included. */
export function placeholderMeanings({ placeholders, lines }: EmailKind): Record<string, string> {
  const meanings = Object.entries(placeholders).map(([name, { meaning }]) => [name, meaning]);
  return Object.fromEntries(lines ? [...meanings, [LINES, lines.meaning]] : meanings) as Record<
    string,
    string
  >;
}
