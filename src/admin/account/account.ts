import { Type } from 'typebox';
import { forbidden, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { PASSKEY_SCRIPT } from '../../storefront/layout/assets.ts';
import { declareForm, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import { isLanguage, LANGUAGES } from '../messages.ts';
import { PASSWORD_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { requireTriesLeft } from '../sign-in/tries.ts';
import { recordInAllShops } from '../users/audit.ts';
import { hashPassword, isPassword } from '../users/password.ts';
import { passwordField, requireGoodPassword, typedPassword } from '../users/password-field.ts';
import {
  deleteOtherAdminSessions,
  deleteAdminSession,
  findAdminSessions,
  findUser,
  updateLanguage,
  updatePassword,
  type AdminSessionRow,
} from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { browserText } from './browser-text.ts';
import { passkeyCard, accountPasskeyPages } from './passkeys.ts';
import { totp, totpCard } from './totp.ts';
import { Redirect } from '../../http/page-kit.ts';

const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch', fr: 'Français' };

const LANGUAGE = declareForm({ body: Type.Object({ language: Type.String() }) }, ({ account: messages }) => ({
  language: {
    kind: 'choice',
    label: messages.adminLanguage,
    empty: messages.languageOfBrowser,
    choices: LANGUAGES.map((value) => ({ value, text: LANGUAGE_NAMES[value] })),
  },
}));

/** A user's own settings: language, password, second factor, passkeys, and open sessions. */
export function account(pages: Pages): void {
  pages.get('/account', 'signed in', async (visit) => accountPage(visit));

  pages.post('/account/language', 'signed in', async (visit, form) => {
    const { language } = readFields(LANGUAGE, form, visit);
    await updateLanguage(visit.db, visit.user.userId, isLanguage(language) ? language : null);
    return new Redirect('/admin/account');
  });

  // The current password is a field of this form, so the page does not ask for it again.
  pages.form('/account/password', 'signed in', {
    show: async (visit, _request, draft) => passwordPage(visit, draft),
    save: async (visit, form) => {
      const { userId, email, sessionId } = visit.user;
      const user = await findUser(visit.db, userId);
      await requireTriesLeft(visit, form, visit.user);
      const isRight = await isPassword(typedPassword(form), user?.passwordHash ?? null);
      if (!isRight) throw forbidden(visit.messages.account.wrongPassword);
      const password = typedPassword(form, 'newPassword');
      await requireGoodPassword(password, email, visit.messages);
      const hash = await hashPassword(password);
      await visit.db.transaction(async (tx) => {
        await updatePassword(tx, userId, hash);
        await deleteOtherAdminSessions(tx, userId, sessionId);
        await recordInAllShops(tx, visit.user, '/admin/account/password');
      });
      return new Redirect('/admin/account', visit.messages.account.passwordChanged);
    },
  });

  pages.post('/account/sessions/:sessionId/end', 'signed in', async (visit, form) => {
    const sessionId = form.params['sessionId']!;
    if (!isId(sessionId)) throw notFound();
    await visit.db.transaction(async (tx) => {
      const ended = await deleteAdminSession(tx, visit.user.userId, sessionId);
      if (ended === 0) throw notFound();
      await recordInAllShops(tx, visit.user, '/admin/account/sessions/:sessionId/end', { sessionId });
    });
    return new Redirect('/admin/account', visit.messages.account.sessionEnded);
  });

  pages.post('/account/sessions/end-others', 'signed in', async (visit) => {
    await visit.db.transaction(async (tx) => {
      const ended = await deleteOtherAdminSessions(tx, visit.user.userId, visit.user.sessionId);
      const object = { sessions: String(ended) };
      await recordInAllShops(tx, visit.user, '/admin/account/sessions/end-others', object);
    });
    return new Redirect('/admin/account', visit.messages.account.othersEnded);
  });

  totp(pages);
  accountPasskeyPages(pages);
}

async function accountPage(visit: Visit<'signed in'>): Promise<AdminPage> {
  const messages = visit.messages.account;
  const [user, sessions, passkeyPart, totpPart] = await Promise.all([
    findUser(visit.db, visit.user.userId),
    findAdminSessions(visit.db, visit.user.userId),
    passkeyCard(visit),
    totpCard(visit),
  ]);
  return {
    title: messages.title,
    scripts: [PASSKEY_SCRIPT],
    actions: buttonForm({ action: '/admin/sign-out', text: visit.messages.layout.signOut }),
    main: html`<div class="stack">
      <section class="card">
        <h2>${visit.user.email}</h2>
        <form method="post" action="/admin/account/language" class="line-form">
          ${showFields(LANGUAGE, visit, { values: visit.user, draft: undefined })('language')}
          <button>${visit.messages.form.save}</button>
        </form>
      </section>
      ${
        user?.passwordHash != null &&
        html`<section class="card">
          <h2>${messages.password}</h2>
          <p class="quiet">${messages.passwordHint}</p>
          <p><a class="button" href="/admin/account/password">${messages.changePassword}</a></p>
        </section>`
      }
      ${totpPart} ${passkeyPart} ${sessionCard(visit, sessions)}
    </div>`,
  };
}

function passwordPage(visit: Visit<'signed in'>, draft?: Draft): AdminPage {
  const messages = visit.messages.account;
  return {
    title: messages.changePassword,
    breadcrumbs: [{ href: '/admin/account', text: messages.title }],
    scripts: [PASSWORD_SCRIPT],
    main: html`<form method="post" class="card narrow">
      ${problemOf(draft)}
      <input type="hidden" name="email" value="${visit.user.email}" autocomplete="username" />
      ${passwordField(visit.messages, { name: 'password', label: messages.currentPassword, autocomplete: 'current-password' })}
      ${passwordField(visit.messages, { name: 'newPassword', label: messages.newPassword, autocomplete: 'new-password' })}
      <p class="quiet">${messages.passwordEndsSessions}</p>
      <button class="main">${messages.changePassword}</button>
    </form>`,
  };
}

function sessionCard(visit: Visit<'signed in'>, sessions: readonly AdminSessionRow[]): Markup {
  const messages = visit.messages.account;
  return html`<section class="card">
    <h2>${messages.sessions}</h2>
    <p class="quiet">${messages.sessionsHint}</p>
    <ul class="things">
      ${sessions.map(({ sessionId, createdAt, seenAt, signedInBy, ...browser }) => {
        const name = browserText(visit.messages, browser);
        const isThis = sessionId === visit.user.sessionId;
        return html`<li>
          <div>
            <strong>${name}</strong> ${isThis && html`<span class="chip good">${messages.thisBrowser}</span>`}
            <p class="quiet">
              ${messages.lastSeen} ${momentText(seenAt, visit.language)}, ${messages.signedInAt}
              ${momentText(createdAt, visit.language)}${signedInBy !== null && html`, ${messages.signedInBy({ host: signedInBy })}`}
            </p>
          </div>
          ${!isThis && buttonForm({ action: `/admin/account/sessions/${sessionId}/end`, text: messages.endSession })}
        </li>`;
      })}
    </ul>
    ${
      sessions.length > 1 &&
      buttonForm({ action: '/admin/account/sessions/end-others', text: messages.endOthers, kind: 'danger' })
    }
  </section>`;
}
