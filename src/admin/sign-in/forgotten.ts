import { badRequest, HttpError, tooManyRequests } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { addressCaller } from '../../http/rate-limit.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { isLanguage } from '../messages.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { recordInAllShops } from '../users/audit.ts';
import { DEMO_OWNER } from '../users/demo-owner.ts';
import { insertLink, LINK_LIFETIME } from '../users/links.ts';
import { passwordEmail } from '../users/password-email.ts';
import { findShopsOf, findUserByEmail } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { EMAIL_FORM } from './fields.ts';
import { afterSameTime } from './tries.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/** The maximum number of these emails per hour: to one person, and from one address. */
const EMAILS = { perPerson: 3, perAddress: 20 };

/**
 * Sends a link for choosing a new password. The response is the same for everyone, so it does not reveal who works
 * here. Nothing changes until the link is used, because strangers can request it too.
 */
export function forgotten(pages: Pages): void {
  pages.form('/forgotten', 'anybody', {
    show: async (visit, _request, draft) => forgottenPage(visit, draft),
    save: async (visit, form) => {
      const startedAt = performance.now();
      const email = readFields(EMAIL_FORM, form, visit).email.toLowerCase();
      if (!isEmailAddress(email)) throw badRequest(visit.messages.signIn.wrongEmail);
      const from = `forgotten-from/${addressCaller(form.address)}`;
      if (!(await form.isWithinLimit(from, EMAILS.perAddress))) {
        const { headers } = tooManyRequests(EMAILS.perAddress, 3600);
        throw new HttpError(429, visit.messages.forgotten.tooOften, headers);
      }
      await sendLink(visit, form, email);
      await afterSameTime(startedAt);
      return sentPage(visit, email);
    },
  });
}

/** The email comes from the first shop of the person. A user without a shop needs `kontor user reset`. */
async function sendLink(visit: Visit<'anybody'>, form: FormRequest, email: string): Promise<void> {
  // Counted for unknown addresses too, or the limit would reveal which are known.
  if (!(await form.isWithinLimit(`forgotten/${email}`, EMAILS.perPerson))) return;
  const user = email === DEMO_OWNER ? undefined : await findUserByEmail(visit.db, email);
  const [shop] = user ? await findShopsOf(visit.db, user.userId) : [];
  const settings = shop && (await findSettings(visit.db, shop.shopId));
  if (!user || !settings) return;
  const language = user.language !== null && isLanguage(user.language) ? user.language : visit.language;
  const locale = settings.locales.find((one) => one.startsWith(language)) ?? language;
  await visit.db.transaction(async (tx) => {
    const linkId = await insertLink(tx, user.userId, LINK_LIFETIME.forgotten);
    await recordInAllShops(tx, user, '/admin/forgotten');
    await queueEmails(tx, shop.shopId, passwordEmail, [{ to: user.email, locale, facts: { linkId } }]);
  });
}

async function forgottenPage(visit: Visit<'anybody'>, draft?: Draft): Promise<AdminPage> {
  const { forgotten: messages } = visit.messages;
  return {
    title: messages.title,
    main: html`<form class="narrow card" method="post" action="/admin/forgotten">
        ${problemOf(draft)}
        <p>${messages.about}</p>
        ${showFields(EMAIL_FORM, visit, { draft })('email')}
        <button class="main">${messages.send}</button>
      </form>
      <p class="narrow quiet"><a href="/admin/sign-in">${messages.back}</a></p>`,
  };
}

function sentPage({ messages: { forgotten: messages } }: Visit<'anybody'>, email: string): AdminPage {
  return {
    title: messages.sentTitle,
    main: html`<div class="narrow card">
        <p>${messages.sent({ email })}</p>
        <p class="quiet">${messages.noEmail}</p>
      </div>
      <p class="narrow quiet"><a href="/admin/sign-in">${messages.back}</a></p>`,
  };
}
