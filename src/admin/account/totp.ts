import { Type } from 'typebox';
import { badRequest } from '../../http/errors.ts';
import { html, safe, type Markup } from '../../http/html.ts';
import { brandOf } from '../../platform/brand.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { MAX_STATE_LENGTH, openState, sealState } from '../sealed-state.ts';
import { recordInAllShops } from '../users/audit.ts';
import { findUser } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import {
  countRecoveryCodes,
  deleteTotp,
  newRecoveryCodes,
  replaceRecoveryCodes,
  setTotp,
} from './second-factor.ts';
import { matchingStep, newTotpSecret, totpAddress } from './totp-code.ts';
import { Redirect } from '../../http/page-kit.ts';

interface NewAuthenticator {
  userId: string;
  secret: string;
}

const AUTHENTICATOR = declareForm(
  {
    body: Type.Object({
      state: Type.String({ maxLength: MAX_STATE_LENGTH }),
      code: Type.String({ maxLength: 9 }),
    }),
  },
  ({ account }) => ({
    state: { kind: 'hidden', label: '' },
    code: {
      label: account.totpCode,
      inputMode: 'numeric',
      autocomplete: 'one-time-code',
      isRequired: true,
    },
  }),
);

const PATH = '/account/totp';
const HREF = `/admin${PATH}`;
/** Changes of the account's security require the password again. */
const AGAIN = { needsReauthentication: true };

/** The second factor of a user: an authenticator app, and recovery codes in case it is lost. */
export function totp(pages: Pages): void {
  pages.form(
    PATH,
    'signed in',
    {
      show: async (visit, _request, draft) => setUpPage(visit, draft),
      save: async (visit, form) => {
        const { userId } = visit.user;
        const messages = visit.messages.account;
        const { state, code } = readFields(AUTHENTICATOR, form, visit);
        const made = openState<NewAuthenticator>(visit.key, 'new authenticator', visit.db.now, state);
        if (made?.state.userId !== userId) throw badRequest(messages.totpTooLate);
        const { secret } = made.state;
        const step = matchingStep(secret, code.replaceAll(/\s/g, ''), visit.db.now, null);
        if (step === undefined) throw badRequest(messages.wrongCode);
        const recovery = await newRecoveryCodes(visit.key, userId);
        await visit.db.transaction(async (tx) => {
          await recordInAllShops(tx, visit.user, HREF);
          await setTotp(tx, visit.key, userId, { secret, step }, recovery);
        });
        return codesPage(visit, recovery.codes);
      },
    },
    { ...AGAIN, ...optionsOf(AUTHENTICATOR) },
  );

  pages.post(
    `${PATH}/codes`,
    'signed in',
    async (visit) => {
      const { userId } = visit.user;
      const user = await findUser(visit.db, userId);
      if (!user?.hasTotp) return new Redirect('/admin/account');
      const recovery = await newRecoveryCodes(visit.key, userId);
      await visit.db.transaction(async (tx) => {
        await recordInAllShops(tx, visit.user, `${HREF}/codes`);
        await replaceRecoveryCodes(tx, userId, recovery);
      });
      return codesPage(visit, recovery.codes);
    },
    AGAIN,
  );

  pages.post(
    `${PATH}/delete`,
    'signed in',
    async (visit) => {
      await visit.db.transaction(async (tx) => {
        await deleteTotp(tx, visit.user.userId);
        await recordInAllShops(tx, visit.user, `${HREF}/delete`);
      });
      return new Redirect('/admin/account', visit.messages.account.totpOff);
    },
    AGAIN,
  );
}

const breadcrumbsOf = ({ messages }: Visit<'signed in'>) => [
  { href: '/admin/account', text: messages.account.title },
];

/** The secret travels in the form, sealed; nothing is stored until a code proves that the app has it. */
async function setUpPage(visit: Visit<'signed in'>, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.account;
  const { key, db, user } = visit;
  const typed = draft && openState<NewAuthenticator>(key, 'new authenticator', db.now, draft.field('state'));
  const secret = typed?.state.userId === user.userId ? typed.state.secret : newTotpSecret();
  const state = sealState(key, 'new authenticator', db.now, { userId: user.userId, secret });
  const address = totpAddress(
    secret,
    user.email,
    `${brandOf(visit.config).name} ${new URL(visit.origin).host}`,
  );
  // A refused code is typed again.
  const field = showFields(AUTHENTICATOR, visit, { values: { state }, draft: undefined });
  const { renderSVG } = await import('uqr');
  return {
    title: messages.totp,
    breadcrumbs: breadcrumbsOf(visit),
    main: html`<form method="post" class="card narrow">
      ${problemOf(draft)}
      <p>${messages.totpScan}</p>
      <div class="qr" role="img" aria-label="${messages.totpPicture}">
        ${safe(renderSVG(address, { border: 2 }))}
      </div>
      <details>
        <summary>${messages.totpType}</summary>
        <p><code>${(secret.match(/.{4}/g) ?? []).join(' ')}</code></p>
      </details>
      ${field('state')} ${field('code')}
      <button class="main">${messages.totpSwitchOn}</button>
    </form>`,
  };
}

function codesPage(visit: Visit<'signed in'>, codes: readonly string[]): AdminPage {
  const messages = visit.messages.account;
  return {
    title: messages.recoveryCodes,
    breadcrumbs: breadcrumbsOf(visit),
    main: html`<div class="card narrow">
      <p>${messages.recoveryCodesHint}</p>
      <ul class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <a class="button main" href="/admin/account">${messages.recoveryCodesSaved}</a>
    </div>`,
  };
}

export async function totpCard(visit: Visit<'signed in'>): Promise<Markup> {
  const messages = visit.messages.account;
  const { userId } = visit.user;
  const user = await findUser(visit.db, userId);
  if (!user?.hasTotp) {
    return html`<section class="card">
      <h2>${messages.totp}</h2>
      <p class="quiet">${messages.totpHint}</p>
      <p><a class="button" href="${HREF}">${messages.totpSetUp}</a></p>
    </section>`;
  }
  const left = await countRecoveryCodes(visit.db, userId);
  return html`<section class="card">
    <h2>${messages.totp}</h2>
    <p>${messages.totpIsOn} ${messages.recoveryCodesLeft({ count: left })}</p>
    <div class="actions">
      <a class="button" href="${HREF}">${messages.totpNewDevice}</a>
      ${buttonForm({ action: `${HREF}/codes`, text: messages.newRecoveryCodes, confirm: messages.newRecoveryCodesQuestion })}
      ${buttonForm({ action: `${HREF}/delete`, text: messages.totpSwitchOff, kind: 'danger', confirm: messages.totpOffQuestion })}
    </div>
  </section>`;
}
