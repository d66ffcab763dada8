import { badRequest } from '../../http/errors.ts';
import type { Transaction } from '../../db/database.ts';
import { html, type Markup } from '../../http/html.ts';
import { browserName } from '../../people/accounts/browser-name.ts';
import {
  MAX_CREDENTIAL_LENGTH,
  hasHostName,
  MAX_PASSKEYS,
  namedCredential,
  passkeyCreation,
  passkeyRequest,
  verifiedCounter,
  verifiedPasskey,
  type PasskeyRow,
  type PasskeySite,
} from '../../people/accounts/passkeys.ts';
import { declareHidden, optionsOf, readFields } from '../components/declared-form.ts';
import { brandOf } from '../../platform/brand.ts';
import { buttonForm } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import type { Pages } from '../pages.ts';
import { MAX_STATE_LENGTH, openState, sealState } from '../sealed-state.ts';
import { MAX_RETURN_PATH_LENGTH, targetAfterSignIn } from '../sign-in/enter.ts';
import { recordInAllShops } from '../users/audit.ts';
import type { User } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { browserText } from './browser-text.ts';
import {
  deleteAdminPasskey,
  findAdminPasskeys,
  insertAdminPasskey,
  lockAdminPasskey,
  updateAdminPasskey,
} from './passkey-queries.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

type AnyVisit = Visit<'anybody'>;

/** The limits of a form with a passkey response; `to` is an address of the admin. */
const PASSKEY = declareHidden({
  credential: MAX_CREDENTIAL_LENGTH,
  state: MAX_STATE_LENGTH,
  to: MAX_RETURN_PATH_LENGTH,
});
export const PASSKEY_OPTIONS = optionsOf(PASSKEY);

const siteOf = ({ origin, config }: AnyVisit): PasskeySite => ({ origin, name: brandOf(config).name });

/** With the session in which the page was shown; null: no user was signed in. */
interface Challenge {
  challenge: string;
  sessionId: string | null;
}

/** The challenge of a form; undefined: it is too old, or belongs to another session. */
function challengeOf(visit: AnyVisit, form: FormRequest, now: Date) {
  const asked = openState<Challenge>(
    visit.key,
    'passkey challenge',
    now,
    readFields(PASSKEY, form, visit).state,
  );
  return asked?.state.sessionId === (visit.user?.sessionId ?? null) ? asked : undefined;
}

const credentialOf = (visit: AnyVisit, form: FormRequest) => readFields(PASSKEY, form, visit).credential;

/** The page to which a form of these leads; without one, to the start. */
export const targetIn = (visit: AnyVisit, form: FormRequest) =>
  targetAfterSignIn(readFields(PASSKEY, form, visit).to);

/** The passkeys of a user, on the account page. */
export function accountPasskeyPages(pages: Pages): void {
  pages.post(
    '/account/passkeys',
    'signed in',
    async (visit, form) => {
      const messages = visit.messages.account;
      const asked = challengeOf(visit, form, visit.db.now);
      const passkey =
        asked && (await verifiedPasskey(siteOf(visit), asked.state.challenge, credentialOf(visit, form)));
      if (!passkey) throw badRequest(messages.passkeyFailed);
      await visit.db.transaction(async (tx) => {
        const isSaved = await insertAdminPasskey(tx, visit.user.userId, {
          ...passkey,
          ...browserName(form.userAgent),
        });
        if (!isSaved) throw badRequest(messages.passkeyFailed);
        await recordInAllShops(tx, visit.user, '/admin/account/passkeys');
      });
      return new Redirect('/admin/account', messages.passkeyAdded);
    },
    { needsReauthentication: true, ...PASSKEY_OPTIONS },
  );

  pages.post(
    '/account/passkeys/delete',
    'signed in',
    async (visit, form) => {
      await visit.db.transaction(async (tx) => {
        await deleteAdminPasskey(tx, visit.user.userId, credentialOf(visit, form));
        await recordInAllShops(tx, visit.user, '/admin/account/passkeys/delete');
      });
      return new Redirect('/admin/account', visit.messages.account.passkeyDeleted);
    },
    { needsReauthentication: true, ...PASSKEY_OPTIONS },
  );
}

/**
 * The user whose passkey has answered the challenge of the form; undefined: the passkey is unknown, or the response is
 * too old or was used before. A passkey needs no second factor, because its device has asked for a fingerprint or a
 * PIN.
 */
export async function takePasskey(
  tx: Transaction,
  visit: AnyVisit,
  form: FormRequest,
): Promise<Pick<User, 'userId' | 'email'> | undefined> {
  const text = credentialOf(visit, form);
  const asked = challengeOf(visit, form, tx.now);
  const credentialId = namedCredential(text);
  if (!asked || credentialId === undefined) return undefined;
  const passkey = await lockAdminPasskey(tx, credentialId);
  // A challenge from before the last use may have been answered by that use.
  if (!passkey || (passkey.usedAt && passkey.usedAt.getTime() >= asked.at)) return undefined;
  const counter = await verifiedCounter(siteOf(visit), asked.state.challenge, text, passkey);
  if (counter === undefined) return undefined;
  await updateAdminPasskey(tx, credentialId, counter);
  return passkey;
}

/** Asks for any passkey that the browser has. It is hidden until the script has detected passkey support. */
export async function passkeyRequestForm(
  visit: AnyVisit,
  action: string,
  target: string,
): Promise<Markup | false> {
  if (!hasHostName(siteOf(visit))) return false;
  const options = await passkeyRequest(siteOf(visit));
  return passkeyForm(visit, 'get', options, { action, target, label: visit.messages.signIn.withPasskey });
}

function passkeyForm(
  visit: AnyVisit,
  kind: 'create' | 'get',
  options: { challenge: string },
  { action, target, label }: { action: string; target?: string; label: string },
): Markup {
  const state = sealState(visit.key, 'passkey challenge', visit.db.now, {
    challenge: options.challenge,
    sessionId: visit.user?.sessionId ?? null,
  } satisfies Challenge);
  return html`<form
    method="post"
    action="${action}"
    class="passkey"
    data-passkey="${kind}"
    data-options="${JSON.stringify(options)}"
    hidden
  >
    <input type="hidden" name="credential" />
    <input type="hidden" name="state" value="${state}" />
    ${target !== undefined && html`<input type="hidden" name="to" value="${target}" />`}
    <p class="error problem" role="alert" hidden>${visit.messages.account.passkeyFailed}</p>
    <button>${label}</button>
  </form>`;
}

export async function passkeyCard(visit: Visit<'signed in'>): Promise<Markup | false> {
  const site = siteOf(visit);
  if (!hasHostName(site)) return false;
  const messages = visit.messages.account;
  const { userId, email } = visit.user;
  const rows = await findAdminPasskeys(visit.db, userId);
  const creation = await passkeyCreation(site, { accountId: userId, email }, rows);
  return html`<section class="card">
    <h2>${messages.passkeys}</h2>
    <p class="quiet">${messages.passkeysHint}</p>
    ${
      rows.length > 0 &&
      html`<ul class="things">
        ${rows.map((row) => passkeyLine(visit, row))}
      </ul>`
    }
    ${
      rows.length < MAX_PASSKEYS
        ? passkeyForm(visit, 'create', creation, {
            action: '/admin/account/passkeys',
            label: messages.addPasskey,
          })
        : html`<p>${messages.passkeysFull({ most: MAX_PASSKEYS })}</p>`
    }
  </section>`;
}

function passkeyLine(visit: Visit<'signed in'>, { credentialId, createdAt, usedAt, ...browser }: PasskeyRow) {
  const { messages, language } = visit;
  return html`<li>
    <div>
      <strong>${browserText(messages, browser)}</strong>
      <p class="quiet">
        ${messages.account.since}
        ${dayText(createdAt, language)}${
          usedAt && html`, ${messages.account.lastUsed} ${dayText(usedAt, language)}`
        }
      </p>
    </div>
    ${buttonForm({
      action: '/admin/account/passkeys/delete',
      fields: { credential: credentialId },
      text: messages.form.delete,
      kind: 'danger',
      confirm: messages.account.deletePasskeyQuestion,
    })}
  </li>`;
}
