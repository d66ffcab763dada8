import { isDemo } from '../../config.ts';
import { DEMO_SHOP } from '../../http/demo-mode.ts';
import { forbidden } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { brandOf } from '../../platform/brand.ts';
import { PASSKEY_SCRIPT } from '../../storefront/layout/assets.ts';
import { PASSKEY_OPTIONS, passkeyRequestForm, takePasskey, targetIn } from '../account/passkeys.ts';
import { takeCode } from '../account/second-factor.ts';
import { declareHidden, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { PASSWORD_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages } from '../pages.ts';
import { MAX_STATE_LENGTH, openState, sealState } from '../sealed-state.ts';
import { recordInAllShops } from '../users/audit.ts';
import { isPassword } from '../users/password.ts';
import { passwordField, typedPassword } from '../users/password-field.ts';
import { deleteAdminSession, findShopsOf, findUser, findUserByEmail } from '../users/queries.ts';
import { DEMO_OWNER, putDemoOwner } from '../users/demo-owner.ts';
import { putDemoVisitor } from '../users/demo-visitor.ts';
import type { Visit } from '../visit.ts';
import { enter, onlyHere, targetAfterSignIn, type HostPanel } from './enter.ts';
import { SIGN_IN_CODE, SIGN_IN } from './fields.ts';
import { afterSameTime, requireTriesLeft } from './tries.ts';
import { Redirect, type FormRequest } from '../../http/page-kit.ts';

/** The password was right; the code of the authenticator app is still missing. */
interface PasswordShown {
  userId: string;
  target: string;
  /** The host has vouched for the person, in the place of the password. */
  host?: HostPanel;
}

const PASSWORD_SHOWN = declareHidden({ state: MAX_STATE_LENGTH });

/** Visits of the admin of a demo from one address; people may share theirs. */
const VISITS_PER_HOUR = 60;

export function adminSignInPages(pages: Pages): void {
  pages.form('/sign-in', 'anybody', {
    show: async (visit, request, draft) => signInPage(visit, targetAfterSignIn(request.query('to')), draft),
    save: async (visit, form) => {
      const startedAt = performance.now();
      const target = targetAfterSignIn(form.query('to'));
      const email = readFields(SIGN_IN, form, visit).email.toLowerCase();
      const user = await findUserByEmail(visit.db, email);
      await requireTriesLeft(visit, form, { email, userId: user?.userId });
      if (!(await isPassword(typedPassword(form), user?.passwordHash ?? null))) {
        if (user) {
          await visit.db.transaction((tx) =>
            recordInAllShops(tx, user, '/admin/sign-in', { refused: 'wrong password' }),
          );
        }
        await afterSameTime(startedAt);
        throw forbidden(visit.messages.signIn.wrong);
      }
      if (user!.hasTotp) return codePage(visit, { userId: user!.userId, target });
      const { userAgent } = form;
      await visit.db.transaction((tx) => enter(tx, visit, user!, { userAgent, by: 'password' }));
      return new Redirect(target);
    },
  });

  pages.post(
    '/sign-in/code',
    'anybody',
    async (visit, form) => {
      const { db, key, messages } = visit;
      const shown = openState<PasswordShown>(
        key,
        'password shown',
        db.now,
        readFields(PASSWORD_SHOWN, form, visit).state,
      )?.state;
      const user = shown && (await findUser(db, shown.userId));
      if (!user) return new Redirect('/admin/sign-in', { text: messages.signIn.tooLate, isProblem: true });
      await requireTriesLeft(visit, form, user, 'code');
      const { userAgent } = form;
      const isRight = await db.transaction(async (tx) => {
        const isTaken = await takeCode(tx, key, user.userId, readFields(SIGN_IN_CODE, form, visit).code);
        const { host } = shown;
        const by = host ? 'host and code' : 'password and code';
        if (isTaken) await enter(tx, visit, user, { userAgent, by, host });
        else await recordInAllShops(tx, user, '/admin/sign-in', { refused: 'wrong code' });
        return isTaken;
      });
      return isRight ? new Redirect(shown.target) : codePage(visit, shown, messages.account.wrongCode);
    },
    optionsOf(PASSWORD_SHOWN, SIGN_IN_CODE),
  );

  pages.post(
    '/sign-in/passkey',
    'anybody',
    async (visit, form) => {
      const target = targetIn(visit, form);
      const user = await visit.db.transaction(async (tx) => {
        const found = await takePasskey(tx, visit, form);
        if (found) await enter(tx, visit, found, { userAgent: form.userAgent, by: 'passkey' });
        return found;
      });
      if (user) return new Redirect(target);
      const search = new URLSearchParams({ to: target }).toString();
      return new Redirect(`/admin/sign-in?${search}`, {
        text: visit.messages.signIn.unknownPasskey,
        isProblem: true,
      });
    },
    PASSKEY_OPTIONS,
  );

  pages.post(
    '/sign-in/demo',
    'anybody',
    async (visit, form) => {
      const { messages, demo, config } = visit;
      if (isDemo(config)) return enterAsVisitor(visit, form);
      if (!demo.isOpen) throw forbidden(onlyHere(visit));
      if (!demo.isOwnForm) throw forbidden(messages.signIn.demoLinkNeeded({ product: brandOf(config).name }));
      const target = targetIn(visit, form);
      const { userAgent } = form;
      await visit.db.transaction(async (tx) => {
        const userId = await putDemoOwner(tx);
        await enter(tx, visit, { userId, email: DEMO_OWNER }, { userAgent, by: 'demo' });
      });
      return new Redirect(target);
    },
    PASSKEY_OPTIONS,
  );

  pages.post('/sign-out', 'signed in', async (visit) => {
    await visit.db.transaction(async (tx) => {
      await deleteAdminSession(tx, visit.user.userId, visit.user.sessionId);
      await recordInAllShops(tx, visit.user, '/admin/sign-out');
    });
    visit.setToken(null);
    return new Redirect('/admin/sign-in', visit.messages.signIn.signedOut);
  });

  pages.get('', 'signed in', async (visit) => {
    const all = await findShopsOf(visit.db, visit.user.userId);
    const shops = all.filter(({ isPending }) => !isPending);
    if (shops.length === 1 && !visit.user.isHost) return new Redirect(`/admin/shops/${shops[0]!.shopId}`);
    const { messages } = visit;
    return {
      title: messages.layout.shops,
      main:
        shops.length === 0
          ? html`<p>${messages.signIn.noShop}</p>`
          : html`<ul class="cards">
              ${shops.map(
                ({ shopId, name, role }) =>
                  html`<li class="card">
                    <h2><a href="/admin/shops/${shopId}">${name}</a></h2>
                    <p class="quiet">${messages.roles[role]}</p>
                  </li>`,
              )}
            </ul>`,
    };
  });
}

/** Each visitor is a user of their own, so that none sees the browser of another one or ends a session of theirs. */
async function enterAsVisitor(visit: Visit<'anybody'>, form: FormRequest): Promise<Redirect> {
  const { messages, db } = visit;
  if (!(await form.isWithinLimit(`visitor/${form.address}`, VISITS_PER_HOUR))) {
    throw forbidden(messages.signIn.tooOften);
  }
  await db.transaction(async (tx) => {
    const user = await putDemoVisitor(tx);
    await enter(tx, visit, user, { userAgent: form.userAgent, by: 'demo' });
  });
  return new Redirect(targetIn(visit, form));
}

async function signInPage(visit: Visit<'anybody'>, target: string, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.signIn;
  const query = new URLSearchParams({ to: target }).toString();
  return {
    title: messages.title,
    scripts: [PASSKEY_SCRIPT, PASSWORD_SCRIPT],
    // The passkey form appears once its script has run, so anything after it would shift, maybe under a finger.
    main: html`${
        visit.demo.isOpen &&
        html`<form class="narrow card" method="post" action="/admin/sign-in/demo">
          <input type="hidden" name="to" value="${target}" />
          <p>${messages.demo}</p>
          <button>${messages.demoButton}</button>
        </form>`
      }
      ${
        isDemo(visit.config) &&
        html`<form class="narrow card" method="post" action="/admin/sign-in/demo">
          <input type="hidden" name="to" value="${target}" />
          <p>${messages.visit}</p>
          <button>${messages.visitButton}</button>
        </form>`
      }
      <form class="narrow card" method="post" action="${`?${query}`}">
        ${problemOf(draft)} ${showFields(SIGN_IN, visit, { draft })('email')}
        ${passwordField(visit.messages, { name: 'password', label: messages.password, autocomplete: 'current-password' })}
        <button class="main">${messages.submit}</button>
      </form>
      <div class="narrow">${await passkeyRequestForm(visit, '/admin/sign-in/passkey', target)}</div>
      <p class="narrow"><a href="/admin/forgotten">${visit.messages.forgotten.link}</a></p>
      ${
        visit.demo.isEnded &&
        html`<section class="narrow card">
          <h2>${messages.demoEndedTitle}</h2>
          <p>${messages.demoEnded}</p>
          <p>${messages.demoEndedForOthers}</p>
          <pre class="code">npx kontor user create you@shop.example --shop ${DEMO_SHOP}</pre>
          <p>${messages.demoEndedForMe}</p>
          <pre class="code">npx kontor demo open</pre>
        </section>`
      }`,
  };
}

export function codePage(visit: Visit<'anybody'>, shown: PasswordShown, problem?: string): AdminPage {
  const messages = visit.messages.signIn;
  return {
    title: messages.codeTitle,
    ...(problem !== undefined && { status: 403 }),
    main: html`<form class="narrow card" method="post" action="/admin/sign-in/code">
      ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
      <input
        type="hidden"
        name="state"
        value="${sealState(visit.key, 'password shown', visit.db.now, shown)}"
      />
      ${showFields(SIGN_IN_CODE, visit, { draft: undefined })('code', { hint: messages.codeHint })}
      <button class="main">${messages.submit}</button>
    </form>`,
  };
}
