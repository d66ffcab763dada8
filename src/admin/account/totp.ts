import { badRequest } from '../../http/errors.ts';
import { html, safe, type Markup } from '../../http/html.ts';
import { buttonForm, problemOf, textField } from '../components/form.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { MAX_STATE_LENGTH, openState, sealState } from '../sealed-state.ts';
import { recordInAllShops } from '../users/audit.ts';
import { findUser } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { countRecoveryCodes, deleteTotp, replaceRecoveryCodes, setTotp } from './second-factor.ts';
import { matchingStep, newTotpSecret, totpAddress } from './totp-code.ts';

interface NewAuthenticator {
  userId: string;
  secret: string;
}

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
        const words = visit.words.account;
        const made = openState<NewAuthenticator>(
          visit.key,
          'new authenticator',
          visit.db.now,
          form.field('state'),
        );
        if (made?.state.userId !== userId) throw badRequest(words.totpTooLate);
        const { secret } = made.state;
        const step = matchingStep(secret, form.field('code').replaceAll(/\s/g, ''), visit.db.now, null);
        if (step === undefined) throw badRequest(words.wrongCode);
        const codes = await visit.db.transaction(async (tx) => {
          await recordInAllShops(tx, visit.user, HREF);
          return setTotp(tx, visit.key, userId, { secret, step });
        });
        return codesPage(visit, codes);
      },
    },
    { ...AGAIN, limits: { texts: { state: MAX_STATE_LENGTH } } },
  );

  pages.post(
    `${PATH}/codes`,
    'signed in',
    async (visit) => {
      const { userId } = visit.user;
      const user = await findUser(visit.db, userId);
      if (!user?.hasTotp) return new Redirect('/admin/account');
      const codes = await visit.db.transaction(async (tx) => {
        await recordInAllShops(tx, visit.user, `${HREF}/codes`);
        return replaceRecoveryCodes(tx, userId);
      });
      return codesPage(visit, codes);
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
      return new Redirect('/admin/account', visit.words.account.totpOff);
    },
    AGAIN,
  );
}

const breadcrumbsOf = ({ words }: Visit<'signed in'>) => [
  { href: '/admin/account', text: words.account.title },
];

/** The secret travels in the form, sealed; nothing is stored until a code proves that the app has it. */
async function setUpPage(visit: Visit<'signed in'>, draft?: Draft): Promise<AdminPage> {
  const words = visit.words.account;
  const { key, db, user } = visit;
  const typed = draft && openState<NewAuthenticator>(key, 'new authenticator', db.now, draft.field('state'));
  const secret = typed?.state.userId === user.userId ? typed.state.secret : newTotpSecret();
  const state = sealState(key, 'new authenticator', db.now, { userId: user.userId, secret });
  const address = totpAddress(secret, user.email, new URL(visit.origin).host);
  const { renderSVG } = await import('uqr');
  return {
    title: words.totp,
    breadcrumbs: breadcrumbsOf(visit),
    main: html`<form method="post" class="card narrow">
      ${problemOf(draft)}
      <p>${words.totpScan}</p>
      <div class="qr" role="img" aria-label="${words.totpPicture}">
        ${safe(renderSVG(address, { border: 2 }))}
      </div>
      <details>
        <summary>${words.totpType}</summary>
        <p><code>${(secret.match(/.{4}/g) ?? []).join(' ')}</code></p>
      </details>
      <input type="hidden" name="state" value="${state}" />
      ${textField({
        name: 'code',
        label: words.totpCode,
        inputMode: 'numeric',
        autocomplete: 'one-time-code',
        maxLength: 9,
        isRequired: true,
      })}
      <button class="main">${words.totpSwitchOn}</button>
    </form>`,
  };
}

function codesPage(visit: Visit<'signed in'>, codes: readonly string[]): AdminPage {
  const words = visit.words.account;
  return {
    title: words.recoveryCodes,
    breadcrumbs: breadcrumbsOf(visit),
    main: html`<div class="card narrow">
      <p>${words.recoveryCodesHint}</p>
      <ul class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <a class="button main" href="/admin/account">${words.recoveryCodesSaved}</a>
    </div>`,
  };
}

export async function totpCard(visit: Visit<'signed in'>): Promise<Markup> {
  const words = visit.words.account;
  const { userId } = visit.user;
  const user = await findUser(visit.db, userId);
  if (!user?.hasTotp) {
    return html`<section class="card">
      <h2>${words.totp}</h2>
      <p class="quiet">${words.totpHint}</p>
      <p><a class="button" href="${HREF}">${words.totpSetUp}</a></p>
    </section>`;
  }
  const left = await countRecoveryCodes(visit.db, userId);
  return html`<section class="card">
    <h2>${words.totp}</h2>
    <p>${words.totpIsOn} ${words.recoveryCodesLeft({ count: left })}</p>
    <div class="actions">
      <a class="button" href="${HREF}">${words.totpNewDevice}</a>
      ${buttonForm({ action: `${HREF}/codes`, text: words.newRecoveryCodes, confirm: words.newRecoveryCodesQuestion })}
      ${buttonForm({ action: `${HREF}/delete`, text: words.totpSwitchOff, kind: 'danger', confirm: words.totpOffQuestion })}
    </div>
  </section>`;
}
