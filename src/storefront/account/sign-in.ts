import { emailField } from '../email-field.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { newId } from '../../kernel/ids.ts';
import {
  countAttempt,
  deleteSession,
  findAccountId,
  findRequest,
  insertRequest,
  MAX_ATTEMPTS,
  mayReceiveSignInEmail,
  takeRequest,
} from '../../people/accounts/queries.ts';
import type { SignInCodes } from '../../people/accounts/sign-in-codes.ts';
import { signInEmail } from '../../people/accounts/sign-in-email.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { SignInTarget } from '../session.ts';
import { legalNames, shopPath, type Visit } from '../visit.ts';
import { continueSignedIn, openAccountSession } from './open-session.ts';
import { passkeyScript, passkeySignInForm } from './passkeys.ts';
import { Redirect } from '../../http/page-kit.ts';

/** Per client address. */
const EMAILS_PER_HOUR = 20;
const TRIES_PER_HOUR = 60;

const TARGETS: readonly string[] = ['/checkout'] satisfies SignInTarget[];

/**
 * A shopper types an email address and gets an email with a link and six digits. Opening the link does not sign in,
 * because virus scanners open links too: it leads to a page whose button does. The digits are valid only in the
 * browser that requested them. Every response is the same whether or not an account with the address exists.
 */
export function signInPages(pages: Pages, codes: SignInCodes): void {
  pages.get('/account/sign-in', async (visit, { query }) =>
    visit.account
      ? new Redirect(shopPath(visit, '/account'))
      : addressPage(visit, { target: query('target') }, await passkeySignInForm(visit)),
  );

  pages.post(
    '/account/sign-in',
    async (visit, { field }) => {
      const target = targetOf(field('target'));
      const email = field('email');
      if (!isEmailAddress(email)) return addressPage(visit, { email, target, isRefused: true });
      // The email goes to the address as the account has it, and to no other spelling.
      const address = email.toLowerCase();
      const requestId = await requestEmail(visit, address);
      visit.updateSession({ signIn: { requestId, email: address, ...(target && { target }) } });
      return new Redirect(shopPath(visit, '/account/code'));
    },
    { perHour: EMAILS_PER_HOUR },
  );

  pages.get('/account/code', async (visit) => {
    const asked = visit.session.signIn;
    return asked
      ? digitsPage(visit, asked.email, await passkeySignInForm(visit))
      : new Redirect(shopPath(visit, '/account/sign-in'));
  });

  pages.post(
    '/account/code',
    async (visit, { field, userAgent }) => {
      const { db, shopId, session } = visit;
      const asked = session.signIn;
      if (!asked) return new Redirect(shopPath(visit, '/account/sign-in'));
      const { requestId, email, target } = asked;
      const typed = field('digits').replaceAll(/\D/g, '');
      const outcome = await db.transaction(async (tx) => {
        const counted = await countAttempt(tx, shopId, requestId);
        if (!counted) return { triesLeft: 0 };
        if (!codes.isDigits(shopId, requestId, typed)) return { triesLeft: MAX_ATTEMPTS - counted.attempts };
        const request = await takeRequest(tx, shopId, requestId);
        return request ? openAccountSession(tx, visit, request.email, userAgent) : { triesLeft: 0 };
      });
      if ('triesLeft' in outcome) {
        return digitsPage(visit, email, await passkeySignInForm(visit), outcome.triesLeft);
      }
      return continueSignedIn(visit, outcome, target);
    },
    { perHour: TRIES_PER_HOUR },
  );

  pages.get('/account/link', async (visit, { query }) => {
    const token = query('token') ?? '';
    const requestId = codes.requestId(visit.shopId, token);
    const request = requestId && (await findRequest(visit.db, visit.shopId, requestId));
    return request ? linkPage(visit, token, request.email) : expiredPage(visit);
  });

  pages.post(
    '/account/link',
    async (visit, { field, userAgent }) => {
      const { db, shopId, session } = visit;
      const requestId = codes.requestId(shopId, field('token'));
      if (requestId === undefined) return expiredPage(visit);
      const opened = await db.transaction(async (tx) => {
        const request = await takeRequest(tx, shopId, requestId);
        return request && openAccountSession(tx, visit, request.email, userAgent);
      });
      if (!opened) return expiredPage(visit);
      const isAskedHere = session.signIn?.requestId === requestId;
      return continueSignedIn(visit, opened, isAskedHere ? session.signIn?.target : undefined);
    },
    { perHour: TRIES_PER_HOUR },
  );

  pages.post('/account/sign-out', async (visit) => {
    const { db, shopId, account, locale } = visit;
    if (account) await deleteSession(db, shopId, account.accountId, account.sessionId);
    visit.setAccountToken(null);
    return new Redirect(shopPath(visit, ''), messagesIn(locale).storefront.account.signedOut);
  });
}

const targetOf = (text: string | undefined) =>
  TARGETS.includes(text ?? '') ? (text as SignInTarget) : undefined;

/** Serializable, because two concurrent requests would each miss the other's email in the count. */
async function requestEmail(visit: Visit, email: string): Promise<string> {
  const { db, shopId, locale } = visit;
  const deviceId = await knownDeviceId(visit, email);
  return db.transaction(
    async (tx) => {
      const requestId = newId(tx.now);
      if (await mayReceiveSignInEmail(tx, shopId, email, deviceId)) {
        await insertRequest(tx, shopId, { requestId, email, deviceId });
        const facts = { requestId, ...(deviceId !== null && { isKnownBrowser: true }) };
        await queueEmails(tx, shopId, signInEmail, [{ to: email, locale, facts }]);
      }
      return requestId;
    },
    { isolation: 'serializable' },
  );
}

/** null: the shopper with this address has not signed in with this browser yet. */
async function knownDeviceId({ db, shopId, device }: Visit, email: string): Promise<string | null> {
  if (!device) return null;
  const accountId = await findAccountId(db, shopId, email);
  return accountId !== undefined && device.userIds.includes(accountId) ? device.deviceId : null;
}

interface AddressForm {
  email?: string;
  target?: string | undefined;
  isRefused?: boolean;
}

/** `passkey`: another way to sign in. */
function addressPage(visit: Visit, form: AddressForm = {}, passkey?: Markup): Page {
  const messages = messagesIn(visit.locale).storefront.account.signIn;
  return {
    title: messages.title,
    path: '/account/sign-in',
    isPrivate: true,
    ...(form.isRefused && { status: 400 }),
    main: html`<h1>${messages.title}</h1>
      <p class="narrow">${messages.intro}</p>
      ${addressForm(visit, form)} ${passkey}`,
    ...(passkey && passkeyScript),
  };
}

function addressForm(visit: Visit, { email = '', target, isRefused = false }: AddressForm): Markup {
  const messages = messagesIn(visit.locale).storefront.account.signIn;
  const policy = legalNames(visit)['privacy-policy'];
  const { privacy } = messagesIn(visit.locale).storefront.newsletter;
  return html`<form class="narrow" method="post" action="${shopPath(visit, '/account/sign-in')}" novalidate>
    ${emailField(messages.email, email, isRefused ? messages.wrongEmail : undefined)}
    ${targetOf(target) && html`<input type="hidden" name="target" value="${target}" />`}
    ${
      policy !== undefined &&
      html`<p>${privacy} <a href="${shopPath(visit, '/legal/privacy-policy')}">${policy}</a></p>`
    }
    <button class="button">${messages.send}</button>
  </form>`;
}

/** `passkey`: another way to sign in, for when no email comes. `triesLeft`: the digits were wrong. */
function digitsPage(visit: Visit, email: string, passkey: Markup | undefined, triesLeft?: number): Page {
  const messages = messagesIn(visit.locale).storefront.account.signIn;
  const isWrong = triesLeft !== undefined;
  return {
    title: messages.sentTitle,
    path: '/account/code',
    isPrivate: true,
    ...(isWrong && { status: 400 }),
    main: html`<h1>${messages.sentTitle}</h1>
      <p class="narrow">${messages.sent.pieces({ email: html`<strong>${email}</strong>` })}</p>
      ${
        triesLeft === 0
          ? html`<p class="error">${messages.noDigits}</p>
              <p><a class="button" href="${shopPath(visit, '/account/sign-in')}">${messages.again}</a></p>`
          : html`<form class="narrow" method="post" action="${shopPath(visit, '/account/code')}">
              <div class="field">
                <label for="digits">${messages.digits}</label>
                <input
                  id="digits"
                  class="digits"
                  name="digits"
                  inputmode="numeric"
                  autocomplete="one-time-code"
                  maxlength="12"
                  required
                  ${isWrong && html`aria-invalid="true" aria-describedby="digits-error"`}
                />
                ${isWrong && html`<p class="error" id="digits-error">${messages.wrongDigits({ count: triesLeft })}</p>`}
              </div>
              <button class="button">${messages.enter}</button>
            </form>`
      }
      ${passkey}
      <p class="narrow note"><small>${messages.help}</small></p>
      <p><a href="${shopPath(visit, '/account/sign-in')}">${messages.otherAddress}</a></p>`,
    ...(passkey && passkeyScript),
  };
}

/** Names the address, so that a stranger's link cannot sign a visitor in to the stranger's account unnoticed. */
function linkPage(visit: Visit, token: string, email: string): Page {
  const messages = messagesIn(visit.locale).storefront.account.signIn;
  return {
    title: messages.linkTitle,
    path: '/account/link',
    query: { token },
    isPrivate: true,
    main: html`<h1>${messages.linkTitle}</h1>
      <p>${messages.linkText} <strong>${email}</strong>.</p>
      <form method="post" action="${shopPath(visit, '/account/link')}">
        <input type="hidden" name="token" value="${token}" />
        <button class="button">${messages.enter}</button>
      </form>
      <p class="note"><small>${messages.linkWarning}</small></p>`,
  };
}

function expiredPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.account.signIn;
  return {
    status: 404,
    title: messages.invalidTitle,
    path: '/account/sign-in',
    isPrivate: true,
    main: html`<h1>${messages.invalidTitle}</h1>
      <p>${messages.invalid}</p>
      ${addressForm(visit, {})}`,
  };
}
