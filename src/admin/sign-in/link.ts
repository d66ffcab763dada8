import { badRequest, gone } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { PASSWORD_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { recordInAllShops } from '../users/audit.ts';
import { DEMO_OWNER } from '../users/demo-owner.ts';
import { findLink, linkTokens, takeLink, type AdminLink } from '../users/links.ts';
import { hashPassword } from '../users/password.ts';
import { passwordField, requireGoodPassword, typedPassword } from '../users/password-field.ts';
import {
  acceptRole,
  deleteOtherAdminSessions,
  findOrCreateUser,
  findUser,
  hasUsersBeside,
  insertPassword,
  putOwnerOfAllShops,
  suspendOtherRoles,
  updateHost,
  updatePassword,
  type User,
} from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { enter } from './enter.ts';
import { EMAIL_FORM } from './fields.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/**
 * The page of a one-time link: the choice of a password, an invitation, or a button for the demo owner, who has no
 * password. Opening it changes nothing, because email programs open links before people do; the form consumes it.
 *
 * The invitation of a shop opens this shop and no other. A user without a password chooses one; everyone else signs in
 * first, so a stolen link is not enough.
 */
export function link(pages: Pages): void {
  pages.form('/link', 'anybody', {
    show: async (visit, request, draft) => {
      const found = await linkOf(visit, request);
      if (!found) return usedPage(visit);
      if (!found.needsSignIn) return choicePage(visit, found, draft);
      return visit.user?.userId === found.userId
        ? acceptPage(visit, found)
        : signInPage(visit, request, found);
    },
    save: async (visit, form) => {
      const { db, messages } = visit;
      const found = await linkOf(visit, form);
      if (!found) throw gone(messages.signIn.linkUsed);
      if (found.email === DEMO_OWNER) {
        await db.transaction(async (tx) => {
          if (!(await takeLink(tx, found))) throw gone(messages.signIn.linkUsed);
          const user = { userId: found.userId!, email: DEMO_OWNER };
          await enter(tx, visit, user, { userAgent: form.userAgent, by: 'link' });
        });
        return new Redirect('/admin');
      }
      if (found.needsSignIn) {
        return visit.user?.userId === found.userId
          ? accept(visit, visit.user, found)
          : { ...signInPage(visit, form, found), status: 403 };
      }
      const email = found.email ?? readFields(EMAIL_FORM, form, visit).email.toLowerCase();
      if (!isEmailAddress(email) || email === DEMO_OWNER) throw badRequest(messages.signIn.wrongEmail);
      const password = typedPassword(form, 'newPassword');
      await requireGoodPassword(password, email, messages);
      const hash = await hashPassword(password);
      const isIn = await db.transaction(async (tx) => {
        if (!(await takeLink(tx, found))) throw gone(messages.signIn.linkUsed);
        const userId = found.userId ?? (await findOrCreateUser(tx, email));
        if (found.userId === null) {
          await updateHost(tx, userId, true);
          await putOwnerOfAllShops(tx, userId);
        }
        if (found.shopId === null) await updatePassword(tx, userId, hash);
        else {
          // Of two invitations accepted at once, the second finds a password.
          if (!(await insertPassword(tx, userId, hash))) throw gone(messages.signIn.linkUsed);
          if (!(await acceptRole(tx, found.shopId, userId))) throw gone(messages.signIn.linkUsed);
          await suspendOtherRoles(tx, found.shopId, userId);
        }
        await deleteOtherAdminSessions(tx, userId, null);
        const user = { userId, email };
        await recordInAllShops(tx, user, '/admin/link');
        if (found.hasTotp) return false;
        await enter(tx, visit, user, { userAgent: form.userAgent, by: 'link' });
        return true;
      });
      // A user with a second factor must provide it: the link replaces only the password.
      return isIn
        ? new Redirect('/admin', messages.signIn.welcome)
        : new Redirect('/admin/sign-in', messages.signIn.passwordSet);
    },
  });
}

interface OpenLink extends AdminLink {
  /** undefined: the user of the link enters it. */
  email: string | undefined;
  hasTotp: boolean;
  /** It is an invitation for a user who has a password, or more permissions than shops can grant. */
  needsSignIn: boolean;
}

/** The user is signed in, and has the link from the mailbox. */
async function accept(
  { db, messages }: Visit<'anybody'>,
  user: Pick<User, 'userId' | 'email'>,
  found: OpenLink,
): Promise<Redirect> {
  const shopId = found.shopId!;
  await db.transaction(async (tx) => {
    if (!(await takeLink(tx, found))) throw gone(messages.signIn.linkUsed);
    if (!(await acceptRole(tx, shopId, user.userId))) throw gone(messages.signIn.linkUsed);
    await recordAction(tx, { shopId, user }, '/admin/link');
  });
  return new Redirect(`/admin/shops/${shopId}`, messages.signIn.accepted);
}

async function linkOf(visit: Visit<'anybody'>, request: PageRequest): Promise<OpenLink | undefined> {
  const linkId = linkTokens(visit.key).linkIdOf(request.query('token') ?? '');
  const found = linkId === undefined ? undefined : await findLink(visit.db, linkId);
  if (!found) return undefined;
  if (found.userId !== null) {
    const user = await findUser(visit.db, found.userId);
    if (!user || (user.email === DEMO_OWNER && !visit.demo.isOpen)) return undefined;
    const { email, hasTotp, passwordHash, isHost } = user;
    return {
      ...found,
      email,
      hasTotp,
      needsSignIn: found.shopId !== null && (passwordHash !== null || isHost),
    };
  }
  // An installation has one first user; links printed before that are void then.
  if (await hasUsersBeside(visit.db, DEMO_OWNER)) return undefined;
  return { ...found, email: undefined, hasTotp: false, needsSignIn: false };
}

function choicePage(visit: Visit<'anybody'>, { email }: OpenLink, draft?: Draft): AdminPage {
  const messages = visit.messages.signIn;
  if (email === DEMO_OWNER) {
    return {
      title: messages.title,
      main: html`<form method="post" class="narrow card">
        ${problemOf(draft)}
        <p>${messages.demo}</p>
        <button class="main">${messages.demoButton}</button>
      </form>`,
    };
  }
  return {
    title: email === undefined ? messages.ownerTitle : messages.choosePassword,
    scripts: [PASSWORD_SCRIPT],
    main: html`<form method="post" class="narrow card">
      ${problemOf(draft)}
      ${
        email === undefined
          ? html`<p>${messages.ownerHint}</p>
              ${showFields(EMAIL_FORM, visit, { draft })('email')}`
          : html`<p>${messages.forEmail({ email })}</p>
              <input type="hidden" name="email" value="${email}" autocomplete="username" />`
      }
      ${passwordField(visit.messages, { name: 'newPassword', label: messages.password, autocomplete: 'new-password' })}
      <button class="main">${messages.savePassword}</button>
    </form>`,
  };
}

async function acceptPage(visit: Visit<'anybody'>, { email, shopId }: OpenLink): Promise<AdminPage> {
  const settings = await findSettings(visit.db, shopId!);
  if (!settings) return usedPage(visit);
  const { name, defaultLocale } = settings;
  const messages = visit.messages.signIn;
  return {
    title: messages.acceptTitle,
    main: html`<form method="post" class="narrow card">
      <p>${messages.acceptHint({ shop: name[defaultLocale] ?? shopId!, email: email! })}</p>
      <button class="main">${messages.accept}</button>
    </form>`,
  };
}

function signInPage(visit: Visit<'anybody'>, request: PageRequest, { email }: OpenLink): AdminPage {
  const messages = visit.messages.signIn;
  const to = `/admin/link?${new URLSearchParams({ token: request.query('token')! }).toString()}`;
  return {
    title: messages.acceptTitle,
    main: html`<div class="narrow card">
        <p>${messages.signInToAccept({ email: email! })}</p>
        <a class="button main" href="/admin/sign-in?${new URLSearchParams({ to }).toString()}"
          >${messages.title}</a
        >
      </div>
      <p class="narrow"><a href="/admin/forgotten">${visit.messages.forgotten.link}</a></p>`,
  };
}

function usedPage(visit: Visit<'anybody'>): AdminPage {
  const messages = visit.messages.signIn;
  return {
    status: 410,
    title: messages.linkUsedTitle,
    main: html`<p class="narrow">${messages.linkUsed}</p>
      <p class="narrow actions">
        <a class="button" href="/admin/sign-in">${messages.title}</a>
        <a class="button" href="/admin/forgotten">${visit.messages.forgotten.link}</a>
      </p>`,
  };
}
