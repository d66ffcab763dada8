import { messagesIn } from '../../kernel/messages.ts';
import { htmlLetter, plainLetter, type Design, type Letter } from '../../platform/email/letter.ts';
import type { EmailContext, EmailKind } from '../../platform/email/kind.ts';
import { fillBody, fillSubject } from '../../platform/email/placeholders.ts';
import type { Email } from '../../platform/email/queue.ts';
import type { MailTexts, Settings } from '../settings/settings.ts';

export interface RenderedEmail {
  subject: string;
  language: string;
  text: string;
  html: string;
}

/** Renders an email with the shop's own texts, else with the built-in ones, below the name of the shop or of the host. */
export function renderEmail(
  kind: EmailKind,
  { locale, facts }: Pick<Email, 'locale' | 'facts'>,
  context: EmailContext,
  { mailTexts, defaultLocale }: Pick<Settings, 'mailTexts' | 'defaultLocale'>,
  design: Design,
  letterhead = context.shopName,
): RenderedEmail {
  const own = ownWords(mailTexts[kind.name] ?? {}, locale, defaultLocale);
  const wordsLocale = own?.locale ?? locale;
  const builtIn = messagesIn(wordsLocale).email;
  const messages = kind.messages(builtIn);
  const values = new Map([
    ...(kind.formerPlaceholders ?? []).map((name) => [name, ''] as const),
    ...Object.entries(kind.placeholders).map(
      ([name, one]) => [name, one.value(facts, context, messages)] as const,
    ),
  ]);
  const letter: Letter = {
    subject: fillSubject(own?.subject ?? '', values) || fillSubject(messages.subject, values),
    body: fillBody(own?.text ?? messages.text, values, kind.lines?.rows(facts, messages)),
    link: { label: kind.linkLabel?.(facts, messages) ?? messages.link, href: kind.link(facts, context) },
    moreLinks: kind.moreLinks?.(facts, context, messages) ?? [],
    sections: kind.sections?.(facts, messages) ?? [],
    footer: messages.footer,
  };
  const textLanguage = own?.text === undefined ? builtIn.language : languageOf(wordsLocale);
  return {
    subject: letter.subject,
    language: textLanguage,
    text: plainLetter(letter, letterhead, builtIn.labelled),
    html: String(htmlLetter(letter, letterhead, textLanguage, design)),
  };
}

/**
 * The shop's own texts for the locale, else for another locale of its language, else for the default locale. Subject
 * and text come from the same locale, so that one email does not mix two languages.
 */
function ownWords(texts: MailTexts[string], locale: string, defaultLocale: string) {
  const related = [defaultLocale, ...Object.keys(texts).toSorted()].filter(
    (other) => languageOf(other) === languageOf(locale),
  );
  const chosen = [locale, ...related, defaultLocale].find((one) => texts[one] !== undefined);
  return chosen === undefined ? undefined : { ...texts[chosen], locale: chosen };
}

function languageOf(locale: string): string {
  return locale.slice(0, 2).toLowerCase();
}
