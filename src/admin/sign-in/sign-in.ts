import { forbidden, tooManyRequests } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { problemOf, textField } from '../components/form.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { isPassword } from '../users/password.ts';
import {
  deleteSession,
  findOrCreateUser,
  findRole,
  findShopsOf,
  findUserByEmail,
  insertSession,
  putRole,
} from '../users/queries.ts';
import type { Visit } from '../visit.ts';

/** The owner of the demo shop, whom everybody on this machine may be. */
export const DEMO_OWNER = 'owner@demo.localhost';
const DEMO_SHOP = 'DemoShop';

/** How often a password may be typed in an hour: for one person, and from one address. */
const TRIES_PER_PERSON = 30;
const TRIES_PER_ADDRESS = 100;

export function signIn(pages: Pages): void {
  pages.form('/sign-in', 'anybody', {
    show: async (visit, request, draft) => signInPage(visit, pathOf(request.query('to')), draft),
    save: async (visit, form) => {
      const email = form.field('email').toLowerCase();
      const isAllowed =
        (await form.isWithinLimit(`password/${email.slice(0, 254)}`, TRIES_PER_PERSON)) &&
        (await form.isWithinLimit(`password-from/${form.address}`, TRIES_PER_ADDRESS));
      if (!isAllowed) throw tooManyRequests(TRIES_PER_PERSON, 3600);
      const user = await findUserByEmail(visit.db, email);
      // Not trimmed: a password may begin or end with a blank.
      const password = form.fieldList('password')[0] ?? '';
      if (!(await isPassword(password, user?.passwordHash ?? null))) {
        throw forbidden(visit.words.signIn.wrong);
      }
      return enter(visit, user!.userId, form.userAgent, pathOf(form.query('to')));
    },
  });

  pages.post('/sign-in/demo', 'anybody', async (visit, form) => {
    if (!visit.isLocal) throw forbidden(visit.words.signIn.onlyHere);
    const userId = await visit.db.transaction(async (tx) => {
      const owner = await findOrCreateUser(tx, DEMO_OWNER);
      if (!(await findRole(tx, DEMO_SHOP, owner))) await putRole(tx, DEMO_SHOP, owner, 'owner');
      return owner;
    });
    return enter(visit, userId, form.userAgent, pathOf(form.field('to')));
  });

  pages.post('/sign-out', 'signed in', async (visit) => {
    await deleteSession(visit.db, visit.user.userId, visit.user.sessionId);
    visit.setToken(null);
    return new Redirect('/admin/sign-in', visit.words.signIn.signedOut);
  });

  pages.get('', 'signed in', async (visit) => {
    const shops = await findShopsOf(visit.db, visit.user.userId);
    if (shops.length === 1) return new Redirect(`/admin/shops/${shops[0]!.shopId}`);
    const { words } = visit;
    return {
      title: words.layout.shops,
      main:
        shops.length === 0
          ? html`<p>${words.signIn.noShop}</p>`
          : html`<ul class="cards">
              ${shops.map(
                ({ shopId, name, role }) =>
                  html`<li class="card">
                    <h2><a href="/admin/shops/${shopId}">${name}</a></h2>
                    <p class="quiet">${words.roles[role]}</p>
                  </li>`,
              )}
            </ul>`,
    };
  });
}

/** A new session, whose token nobody has seen before. */
async function enter(visit: Visit<'anybody'>, userId: string, userAgent: string, path: string) {
  const token = await visit.db.transaction(async (tx) => {
    if (visit.user) await deleteSession(tx, visit.user.userId, visit.user.sessionId);
    return insertSession(tx, userId, userAgent);
  });
  visit.setToken(token);
  return new Redirect(path);
}

function signInPage(visit: Visit<'anybody'>, target: string, draft?: Draft): AdminPage {
  const words = visit.words.signIn;
  return {
    title: words.title,
    main: html`<form
        class="narrow card"
        method="post"
        action="${`?${new URLSearchParams({ to: target }).toString()}`}"
      >
        ${problemOf(draft)}
        ${textField({ name: 'email', label: words.email, type: 'email', autocomplete: 'username', isRequired: true, draft })}
        ${textField({ name: 'password', label: words.password, type: 'password', autocomplete: 'current-password', isRequired: true })}
        <button class="main">${words.submit}</button>
      </form>
      ${
        visit.isLocal &&
        html`<form class="narrow card" method="post" action="/admin/sign-in/demo">
          <input type="hidden" name="to" value="${target}" />
          <p>${words.demo}</p>
          <button>${words.demoButton}</button>
        </form>`
      }`,
  };
}

/** Where to go after signing in: a page of the admin and nothing else. */
function pathOf(text: string | undefined): string {
  return text !== undefined && /^\/admin(?:[/?]|$)/.test(text) && !text.includes('\\') ? text : '/admin';
}
