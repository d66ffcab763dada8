import { badRequest, gone } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { problemOf, textField } from '../components/form.ts';
import { PASSWORD_SCRIPT } from '../layout/assets.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { Draft, PageRequest, Pages } from '../pages.ts';
import { recordInAllShops } from '../users/audit.ts';
import { DEMO_OWNER } from '../users/demo-owner.ts';
import { findLink, linkTokens, takeLink, type Link } from '../users/links.ts';
import { hashPassword } from '../users/password.ts';
import { passwordField, requireGoodPassword, typedPassword } from '../users/password-field.ts';
import {
  deleteOtherSessions,
  findOrCreateUser,
  findUser,
  hasUsersBeside,
  putOwnerOfAllShops,
  updateHost,
  updatePassword,
} from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { enter } from './enter.ts';

/**
 * What a one-time link leads to: the choice of a password, or a button for the demo owner, who has none. Opening it changes nothing, because email programs open links
 * before people do; the form uses it up.
 */
export function link(pages: Pages): void {
  pages.form('/link', 'anybody', {
    show: async (visit, request, draft) => {
      const found = await linkOf(visit, request);
      return found ? choicePage(visit, found, draft) : usedPage(visit);
    },
    save: async (visit, form) => {
      const { db, words } = visit;
      const found = await linkOf(visit, form);
      if (!found) throw gone(words.signIn.linkUsed);
      if (found.email === DEMO_OWNER) {
        await db.transaction(async (tx) => {
          if (!(await takeLink(tx, found))) throw gone(words.signIn.linkUsed);
          const user = { userId: found.userId!, email: DEMO_OWNER };
          await enter(tx, visit, user, { userAgent: form.userAgent, by: 'link' });
        });
        return new Redirect('/admin');
      }
      const email = found.email ?? form.field('email').toLowerCase();
      if (!isEmailAddress(email) || email === DEMO_OWNER) throw badRequest(words.signIn.wrongEmail);
      const password = typedPassword(form, 'newPassword');
      requireGoodPassword(password, email, words);
      const hash = await hashPassword(password);
      const isIn = await db.transaction(async (tx) => {
        if (!(await takeLink(tx, found))) throw gone(words.signIn.linkUsed);
        const userId = found.userId ?? (await findOrCreateUser(tx, email));
        if (found.userId === null) {
          await updateHost(tx, userId, true);
          await putOwnerOfAllShops(tx, userId);
        }
        await updatePassword(tx, userId, hash);
        await deleteOtherSessions(tx, userId, null);
        const user = { userId, email };
        await recordInAllShops(tx, user, '/admin/link');
        if (found.hasTotp) return false;
        await enter(tx, visit, user, { userAgent: form.userAgent, by: 'link' });
        return true;
      });
      // Whoever has a second factor shows it: the link alone is worth the password alone.
      return isIn
        ? new Redirect('/admin', words.signIn.welcome)
        : new Redirect('/admin/sign-in', words.signIn.passwordSet);
    },
  });
}

interface OpenLink extends Link {
  /** undefined: whoever uses it says it. */
  email: string | undefined;
  hasTotp: boolean;
}

async function linkOf(visit: Visit<'anybody'>, request: PageRequest): Promise<OpenLink | undefined> {
  const linkId = linkTokens(visit.key).linkIdOf(request.query('token') ?? '');
  const found = linkId === undefined ? undefined : await findLink(visit.db, linkId);
  if (!found) return undefined;
  if (found.userId !== null) {
    const user = await findUser(visit.db, found.userId);
    if (user?.email === DEMO_OWNER && !visit.demo.isOpen) return undefined;
    return user && { ...found, email: user.email, hasTotp: user.hasTotp };
  }
  // An installation has one first user; the links that were printed before there was one are worth nothing then.
  if (await hasUsersBeside(visit.db, DEMO_OWNER)) return undefined;
  return { ...found, email: undefined, hasTotp: false };
}

function choicePage(visit: Visit<'anybody'>, { email }: OpenLink, draft?: Draft): AdminPage {
  const words = visit.words.signIn;
  if (email === DEMO_OWNER) {
    return {
      title: words.title,
      main: html`<form method="post" class="narrow card">
        ${problemOf(draft)}
        <p>${words.demo}</p>
        <button class="main">${words.demoButton}</button>
      </form>`,
    };
  }
  return {
    title: email === undefined ? words.ownerTitle : words.choosePassword,
    scripts: [PASSWORD_SCRIPT],
    main: html`<form method="post" class="narrow card">
      ${problemOf(draft)}
      ${
        email === undefined
          ? html`<p>${words.ownerHint}</p>
              ${textField({ name: 'email', label: words.email, type: 'email', autocomplete: 'username', maxLength: 254, isRequired: true, draft })}`
          : html`<p>${words.forEmail({ email })}</p>
              <input type="hidden" name="email" value="${email}" autocomplete="username" />`
      }
      ${passwordField(visit.words, { name: 'newPassword', label: words.password, autocomplete: 'new-password' })}
      <button class="main">${words.savePassword}</button>
    </form>`,
  };
}

function usedPage(visit: Visit<'anybody'>): AdminPage {
  const words = visit.words.signIn;
  return {
    status: 410,
    title: words.linkUsedTitle,
    main: html`<p class="narrow">${words.linkUsed}</p>
      <p class="narrow actions">
        <a class="button" href="/admin/sign-in">${words.title}</a>
        <a class="button" href="/admin/forgotten">${visit.words.forgotten.link}</a>
      </p>`,
  };
}
