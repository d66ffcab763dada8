import type { FormLimits } from '../../http/form-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { browserName } from '../../people/accounts/browser-name.ts';
import {
  MAX_CREDENTIAL_LENGTH,
  deletePasskey,
  findPasskeys,
  hasHostName,
  insertPasskey,
  lockPasskey,
  MAX_PASSKEYS,
  namedCredential,
  passkeyCreation,
  passkeyRequest,
  updatePasskey,
  verifiedCounter,
  verifiedPasskey,
  type PasskeyRow,
  type PasskeySite,
} from '../../people/accounts/passkeys.ts';
import { PASSKEY_SCRIPT } from '../layout/assets.ts';
import type { Pages } from '../pages.ts';
import type { Session } from '../session.ts';
import { shopName, shopPath, type Visit } from '../visit.ts';
import { mediumDateText, whenFormSignedIn } from './account-page.ts';
import { deviceText } from './browser-text.ts';
import { continueSignedIn, openAccountSession } from './open-session.ts';
import type { SignedInAccount } from './signed-in-account.ts';
import { Redirect } from '../../http/page-kit.ts';

const DEVICES = '/account/devices';
const TRIES_PER_HOUR = 60;

/** Milliseconds for which a passkey challenge is valid. */
const CHALLENGE_LIFETIME = 10 * 60_000;

/** A passkey grants permanent access: a stranger at an open browser must not be able to add one. */
const SIGNED_IN_WITHIN = 60 * 60_000;

const hasJustSignedIn = ({ db }: Visit, { signedInAt }: SignedInAccount) =>
  db.now.getTime() - signedInAt.getTime() < SIGNED_IN_WITHIN;

const siteOf = (visit: Visit): PasskeySite => ({ origin: visit.pageOrigin, name: shopName(visit) });

const PASSKEY_LIMITS: FormLimits = { texts: { credential: MAX_CREDENTIAL_LENGTH } };

/** A passkey signs in without an email. Everything works without one. */
export function passkeyPages(pages: Pages): void {
  pages.post(
    '/account/passkey',
    async (visit, { field, userAgent }) => {
      const { db, shopId, locale } = visit;
      const text = field('credential');
      const asked = takeChallenge(visit);
      const credentialId = namedCredential(text);
      const opened =
        asked && credentialId !== undefined
          ? await db.transaction(async (tx) => {
              const passkey = await lockPasskey(tx, shopId, credentialId);
              // A challenge from before the last use may have been answered by that use.
              if (!passkey || (passkey.usedAt && passkey.usedAt.getTime() >= asked.at)) return undefined;
              const counter = await verifiedCounter(siteOf(visit), asked.challenge, text, passkey);
              if (counter === undefined) return undefined;
              await updatePasskey(tx, shopId, credentialId, counter);
              return openAccountSession(tx, visit, passkey.email, userAgent);
            })
          : undefined;
      if (opened) return continueSignedIn(visit, opened, undefined);
      return new Redirect(
        shopPath(visit, '/account/sign-in'),
        messagesIn(locale).storefront.account.passkeys.unknown,
      );
    },
    { perHour: TRIES_PER_HOUR, limits: PASSKEY_LIMITS },
  );

  pages.post(
    '/account/passkeys',
    whenFormSignedIn(async (visit, account, { field, userAgent }) => {
      const { db, shopId } = visit;
      const messages = messagesIn(visit.locale).storefront.account.passkeys;
      const asked = takeChallenge(visit);
      if (!hasJustSignedIn(visit, account))
        return new Redirect(shopPath(visit, DEVICES), messages.signInAgain);
      const passkey = asked && (await verifiedPasskey(siteOf(visit), asked.challenge, field('credential')));
      const isSaved =
        passkey &&
        (await db.transaction((tx) =>
          insertPasskey(tx, shopId, account.accountId, { ...passkey, ...browserName(userAgent) }),
        ));
      return new Redirect(shopPath(visit, DEVICES), isSaved ? messages.added : messages.failed);
    }),
    { perHour: TRIES_PER_HOUR, limits: PASSKEY_LIMITS },
  );

  pages.post(
    '/account/passkeys/delete',
    whenFormSignedIn(async (visit, { accountId }, { field }) => {
      await deletePasskey(visit.db, visit.shopId, accountId, field('credential'));
      return new Redirect(
        shopPath(visit, DEVICES),
        messagesIn(visit.locale).storefront.account.passkeys.removed,
      );
    }),
    { limits: PASSKEY_LIMITS },
  );
}

/**
 * The challenge is in the signed cookie of the browser that opened the page. undefined: there is none, or it is too
 * old.
 */
function takeChallenge(visit: Visit): Session['passkey'] {
  const { passkey } = visit.session;
  visit.updateSession({ passkey: undefined });
  return passkey && visit.db.now.getTime() - passkey.at < CHALLENGE_LIFETIME ? passkey : undefined;
}

function setChallenge(visit: Visit, challenge: string): void {
  visit.updateSession({ passkey: { challenge, at: visit.db.now.getTime() } });
}

/** The script of pages with one of these forms. */
export const passkeyScript = { script: PASSKEY_SCRIPT.path };

/** Signs in with a passkey. It is hidden until the script has detected passkey support. */
export async function passkeySignInForm(visit: Visit): Promise<Markup | undefined> {
  if (!hasHostName(siteOf(visit))) return undefined;
  const messages = messagesIn(visit.locale).storefront.account.passkeys;
  const options = await passkeyRequest(siteOf(visit));
  setChallenge(visit, options.challenge);
  return passkeyForm(visit, '/account/passkey', 'get', options, messages.signIn);
}

function passkeyForm(
  visit: Visit,
  path: string,
  kind: 'create' | 'get',
  options: object,
  label: string,
): Markup {
  const messages = messagesIn(visit.locale).storefront.account.passkeys;
  return html`<form
    class="note"
    method="post"
    action="${shopPath(visit, path)}"
    data-passkey="${kind}"
    data-options="${JSON.stringify(options)}"
    hidden
  >
    <input type="hidden" name="credential" />
    <p class="error" role="alert" hidden>${messages.failed}</p>
    <button class="quiet">${label}</button>
  </form>`;
}

/** The passkeys of an account, below its devices. */
export async function passkeyList(visit: Visit, account: SignedInAccount): Promise<Markup | false> {
  if (!hasHostName(siteOf(visit))) return false;
  const messages = messagesIn(visit.locale).storefront.account.passkeys;
  const rows = await findPasskeys(visit.db, visit.shopId, account.accountId);
  return html`<h2>${messages.title}</h2>
    <p>${messages.intro}</p>
    ${
      rows.length > 0 &&
      html`<ul class="lines">
        ${rows.map((row) => passkeyLine(visit, row))}
      </ul>`
    }
    ${
      rows.length >= MAX_PASSKEYS
        ? html`<p>${messages.full({ most: MAX_PASSKEYS })}</p>`
        : hasJustSignedIn(visit, account)
          ? await creationForm(visit, account, rows)
          : html`<p>${messages.signInAgain}</p>`
    }`;
}

async function creationForm(
  visit: Visit,
  account: SignedInAccount,
  known: readonly PasskeyRow[],
): Promise<Markup> {
  const messages = messagesIn(visit.locale).storefront.account.passkeys;
  const options = await passkeyCreation(siteOf(visit), account, known);
  setChallenge(visit, options.challenge);
  return passkeyForm(visit, '/account/passkeys', 'create', options, messages.add);
}

function passkeyLine(visit: Visit, { credentialId, createdAt, usedAt, ...browser }: PasskeyRow): Markup {
  const { passkeys: messages, remove } = messagesIn(visit.locale).storefront.account;
  const name = deviceText(visit, browser);
  const since = messages.since({ date: mediumDateText(visit, createdAt) });
  return html`<li>
    <div class="what">
      <p><strong>${name}</strong></p>
      <p>
        <small>${since}${usedAt && `, ${messages.used({ date: mediumDateText(visit, usedAt) })}`}</small>
      </p>
    </div>
    <form method="post" action="${shopPath(visit, '/account/passkeys/delete')}">
      <input type="hidden" name="credential" value="${credentialId}" />
      <button class="quiet" aria-label="${messages.removeOf({ name })}">${remove}</button>
    </form>
  </li>`;
}
