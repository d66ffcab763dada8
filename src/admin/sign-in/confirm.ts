import { forbidden } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { PASSKEY_SCRIPT } from '../../storefront/layout/assets.ts';
import { findAdminPasskeys } from '../account/passkey-queries.ts';
import { PASSKEY_OPTIONS, passkeyRequestForm, takePasskey, targetIn } from '../account/passkeys.ts';
import { takeCode } from '../account/second-factor.ts';
import { readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { PASSWORD_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { recordInAllShops } from '../users/audit.ts';
import { DEMO_OWNER } from '../users/demo-owner.ts';
import { isPassword } from '../users/password.ts';
import { passwordField, typedPassword } from '../users/password-field.ts';
import { confirmSession, findUser } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { onlyHere, targetAfterSignIn } from './enter.ts';
import { SIGN_IN_CODE } from './fields.ts';
import { requireTriesLeft } from './tries.ts';
import { Redirect } from '../../http/page-kit.ts';

/** A user reauthenticates before a dangerous action: a stranger may be using an open browser. */
export function confirm(pages: Pages): void {
  pages.form('/confirm', 'signed in', {
    show: async (visit, request, draft) => confirmPage(visit, targetAfterSignIn(request.query('to')), draft),
    save: async (visit, form) => {
      const { db, key, messages } = visit;
      const target = targetAfterSignIn(form.query('to'));
      const user = (await findUser(db, visit.user.userId))!;
      const { code } = readFields(SIGN_IN_CODE, form, visit);
      await requireTriesLeft(visit, form, user, code === '' ? 'password' : 'code');
      const isShown =
        code === ''
          ? await isPassword(typedPassword(form), user.passwordHash)
          : await db.transaction((tx) => takeCode(tx, key, user.userId, code));
      if (!isShown) {
        await db.transaction((tx) => recordInAllShops(tx, user, '/admin/confirm', { refused: 'wrong' }));
        throw forbidden(code === '' ? messages.account.wrongPassword : messages.account.wrongCode);
      }
      await confirmSession(db, visit.user.sessionId);
      return new Redirect(target);
    },
  });

  pages.post(
    '/confirm/passkey',
    'signed in',
    async (visit, form) => {
      const target = targetIn(visit, form);
      const isShown = await visit.db.transaction(async (tx) => {
        const owner = await takePasskey(tx, visit, form);
        if (owner?.userId !== visit.user.userId) return false;
        await confirmSession(tx, visit.user.sessionId);
        return true;
      });
      if (isShown) return new Redirect(target);
      const search = new URLSearchParams({ to: target }).toString();
      return new Redirect(`/admin/confirm?${search}`, {
        text: visit.messages.signIn.unknownPasskey,
        isProblem: true,
      });
    },
    PASSKEY_OPTIONS,
  );

  // The demo owner has no password, and is anyone at this machine.
  pages.post(
    '/confirm/demo',
    'signed in',
    async (visit, form) => {
      if (!isDemoOwner(visit) || !visit.demo.isOwnForm) throw forbidden(onlyHere(visit));
      const target = targetIn(visit, form);
      await confirmSession(visit.db, visit.user.sessionId);
      return new Redirect(target);
    },
    PASSKEY_OPTIONS,
  );
}

const isDemoOwner = ({ user }: Visit<'signed in'>) => user.email === DEMO_OWNER;

async function confirmPage(visit: Visit<'signed in'>, target: string, draft?: Draft): Promise<AdminPage> {
  const { messages } = visit;
  const user = (await findUser(visit.db, visit.user.userId))!;
  const hasPasskey = (await findAdminPasskeys(visit.db, user.userId)).length > 0;
  const action = `?${new URLSearchParams({ to: target }).toString()}`;
  return {
    title: messages.signIn.confirmTitle,
    scripts: [PASSKEY_SCRIPT, PASSWORD_SCRIPT],
    main: html`<p class="narrow">${messages.signIn.confirmHint({ email: user.email })}</p>
      <div class="narrow">${problemOf(draft)}</div>
      ${
        user.passwordHash !== null &&
        html`<form class="narrow card" method="post" action="${action}">
          <input type="hidden" name="email" value="${user.email}" autocomplete="username" />
          ${passwordField(messages, { name: 'password', label: messages.signIn.password, autocomplete: 'current-password' })}
          <button class="main">${messages.signIn.confirm}</button>
        </form>`
      }
      ${
        user.hasTotp &&
        html`<form class="narrow card" method="post" action="${action}">
          ${showFields(SIGN_IN_CODE, visit, { draft: undefined })('code')}
          <button>${messages.signIn.confirm}</button>
        </form>`
      }
      ${
        hasPasskey &&
        html`<div class="narrow">${await passkeyRequestForm(visit, '/admin/confirm/passkey', target)}</div>`
      }
      ${
        isDemoOwner(visit) &&
        html`<div class="narrow card">
          <p>${messages.signIn.demo}</p>
          ${buttonForm({ action: '/admin/confirm/demo', fields: { to: target }, text: messages.signIn.confirm, kind: 'main' })}
        </div>`
      }`,
  };
}
