import { contactEmail } from '../../content/contact-email.ts';
import { hasContactForm } from '../../content/pages/queries.ts';
import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { tooManyRequests } from '../../http/errors.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import {
  CONTACT_PATH,
  contactFields,
  MAX_CONTACT_LENGTH,
  MAX_SENDER_NAME_LENGTH,
  TRAP,
  type ContactProblems,
  type ContactValues,
} from './contact-form.ts';

/** Of one client address, and of the whole shop: a merchant can read no more. */
const FORMS_PER_HOUR = 5;
const MESSAGES_PER_HOUR = 60;

/**
 * The messages of contact forms go to the address of the shop and to nobody else, so the form can't be used to write to
 * others. A shop without such a form on a public page has none of these pages.
 */
export function contactPages(pages: Pages): void {
  pages.get(CONTACT_PATH, async (visit) => {
    await requireContactForm(visit);
    return formPage(visit);
  });

  pages.post(
    CONTACT_PATH,
    async (visit, { field, isWithinLimit }) => {
      await requireContactForm(visit);
      const { db, shopId, settings } = visit;
      const values = { name: field('name'), email: field('email'), message: field('message') };
      const problems = problemsOf(visit, values);
      if (Object.keys(problems).length > 0) return { ...formPage(visit, values, problems), status: 400 };
      // A program is not told that its message was dropped.
      if (field(TRAP) === '') {
        if (!(await isWithinLimit('contact', MESSAGES_PER_HOUR)))
          throw tooManyRequests(MESSAGES_PER_HOUR, 3600);
        await db.transaction((tx) =>
          queueEmails(tx, shopId, contactEmail, [
            { to: settings.email, locale: settings.defaultLocale, facts: values },
          ]),
        );
      }
      return new Redirect(shopPath(visit, `${CONTACT_PATH}/sent`));
    },
    { perHour: FORMS_PER_HOUR, limits: { texts: { message: MAX_CONTACT_LENGTH } } },
  );

  pages.get(`${CONTACT_PATH}/sent`, async (visit) => {
    const messages = messagesIn(visit.locale).storefront.content.contact;
    return {
      title: messages.sentTitle,
      path: `${CONTACT_PATH}/sent`,
      isPrivate: true,
      main: html`<h1>${messages.sentTitle}</h1>
        <p>${messages.sent}</p>`,
    };
  });
}

async function requireContactForm({ db, shopId }: Visit): Promise<void> {
  if (!(await hasContactForm(db, shopId))) throw notFound();
}

function problemsOf({ locale }: Visit, { name, email, message }: ContactValues): ContactProblems {
  const messages = messagesIn(locale).storefront.content.contact;
  return {
    ...(name.length > MAX_SENDER_NAME_LENGTH && {
      name: messages.longName({ limit: MAX_SENDER_NAME_LENGTH }),
    }),
    ...(!isEmailAddress(email) && { email: messages.wrongEmail }),
    ...(message === '' && { message: messages.noMessage }),
  };
}

function formPage(visit: Visit, values?: ContactValues, problems?: ContactProblems): Page {
  const { title } = messagesIn(visit.locale).storefront.content.contact;
  return {
    title,
    path: CONTACT_PATH,
    isPrivate: true,
    main: html`<h1>${title}</h1>
      ${contactFields(visit, '', values, problems)}`,
  };
}
