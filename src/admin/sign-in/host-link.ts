import type { Transaction } from '../../db/database.ts';
import { dateTimeText } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';
import { textIn } from '../../http/locale.ts';
import { findHostLink, takeHostLink, type HostLink } from '../../host/links.ts';
import { insertSupportVisit, lockGrant } from '../../host/support.ts';
import { brandOf } from '../../platform/brand.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { findSettings, type Settings } from '../../shops/settings/settings.ts';
import { declareHidden, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { momentText } from '../components/format.ts';
import { ENTER_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Pages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { supportEnteredEmail } from '../support/entered-email.ts';
import { supportName } from '../support/support-name.ts';
import { findMembers, findRole, findUser, type UserWithSecrets } from '../users/queries.ts';
import type { Visit } from '../visit.ts';
import { endSession, enter, targetAfterSignIn } from './enter.ts';
import { codePage } from './sign-in.ts';

/** What follows the # of a link: a shop id and a secret. */
const LINK = declareHidden({ token: 200 });

/**
 * The page of a link of the host. Its secret is after the #, so the page itself is the same for everyone; a script
 * sends the secret. Then a page names the shop and the person, and the button on it uses the link up: nobody is signed
 * in to somebody else's shop by only following a link, and no other site can send this form.
 */
export function hostLink(pages: Pages): void {
  pages.get('/enter', 'anybody', async (visit) => openingPage(visit));

  pages.post(
    '/enter',
    'anybody',
    async (visit, form) => greetingPage(visit, readFields(LINK, form, visit).token),
    optionsOf(LINK),
  );

  pages.post('/enter/open', 'anybody', async (visit, form) => open(visit, form), optionsOf(LINK));
}

function openingPage(visit: Visit<'anybody'>): AdminPage {
  const { messages } = visit;
  return {
    title: messages.enter.title,
    scripts: [ENTER_SCRIPT],
    main: html`<form id="enter" class="narrow card" method="post" action="/admin/enter">
      ${tokenField(visit, '')}
      <p>${messages.enter.opening}</p>
      <noscript><p class="problem">${messages.enter.needsScript}</p></noscript>
    </form>`,
  };
}

const tokenField = (visit: Visit<'anybody'>, token: string): Markup =>
  showFields(LINK, visit, { values: { token }, draft: undefined })('token');

/** Changes nothing: the link stays unused until its button is pressed. */
async function greetingPage(visit: Visit<'anybody'>, token: string): Promise<AdminPage> {
  const link = await findHostLink(visit.db, token);
  const settings = link && (await findSettings(visit.db, link.shopId));
  if (!link || !settings) return usedPage(visit);
  const messages = visit.messages.enter;
  const shop = shopName(settings);
  const user = 'userId' in link ? await personOf(visit.db, link.shopId, link.userId) : undefined;
  if ('userId' in link && !user) return usedPage(visit);
  return {
    title: 'userId' in link ? messages.title : messages.supportTitle,
    main: html`<form class="narrow card" method="post" action="/admin/enter/open">
      ${tokenField(visit, token)}
      <p>
        ${
          'userId' in link
            ? messages.asPerson({ shop, email: user!.email })
            : messages.asSupport({ shop, name: link.person.name })
        }
      </p>
      ${'person' in link && html`<p class="quiet">${link.person.reason}</p>`}
      ${
        visit.user &&
        visit.user.userId !== user?.userId &&
        html`<p class="notice warning">${messages.endsSession({ email: visit.user.email })}</p>`
      }
      <button class="main">${messages.submit}</button>
    </form>`,
  };
}

async function open(visit: Visit<'anybody'>, form: FormRequest): Promise<AdminPage | Redirect> {
  const { db } = visit;
  const { token } = readFields(LINK, form, visit);
  const found = await findHostLink(db, token);
  const settings = found && (await findSettings(db, found.shopId));
  if (!settings) return usedPage(visit);
  return db.transaction(async (tx) => {
    const link = await takeHostLink(tx, token);
    if (!link) return usedPage(visit);
    return 'userId' in link
      ? signIn(tx, visit, link, form.userAgent)
      : enterAsSupport(tx, visit, link, settings);
  });
}

/** The host vouches for the person, as a right password would; an authenticator app is asked for as always. */
async function signIn(
  tx: Transaction,
  visit: Visit<'anybody'>,
  link: HostLink & { userId: string; target: string },
  userAgent: string,
): Promise<AdminPage | Redirect> {
  const user = await personOf(tx, link.shopId, link.userId);
  if (!user) return usedPage(visit);
  const host = { name: brandOf(visit.config).name, token: link.madeBy };
  const target = targetAfterSignIn(link.target);
  if (user.hasTotp) return codePage(visit, { userId: user.userId, target, host });
  await enter(tx, visit, user, { userAgent, by: 'host', host });
  return new Redirect(target);
}

async function enterAsSupport(
  tx: Transaction,
  visit: Visit<'anybody'>,
  { shopId, grantId, person, madeBy }: Extract<HostLink, { grantId: string }>,
  settings: Settings,
): Promise<AdminPage | Redirect> {
  const grant = await lockGrant(tx, shopId, grantId);
  if (!grant) return usedPage(visit);
  await endSession(tx, visit.user);
  const { visitId, token } = await insertSupportVisit(tx, shopId, grantId, person);
  const { name, email, reason } = person;
  const user = { userId: visitId, email: supportName(person, brandOf(visit.config)) };
  await recordAction(tx, { shopId, user }, '/admin/enter', { email, reason, token: madeBy });
  const owners = (await findMembers(tx, shopId)).filter(
    ({ role, isPending }) => role === 'owner' && !isPending,
  );
  const facts = { name, email, reason, until: dateTimeText(grant.endsAt, settings.defaultLocale) };
  await queueEmails(
    tx,
    shopId,
    supportEnteredEmail,
    owners.map((owner) => ({ to: owner.email, locale: settings.defaultLocale, facts })),
  );
  visit.setToken(token);
  const until = momentText(grant.endsAt, visit.language);
  return new Redirect(`/admin/shops/${shopId}`, visit.messages.support.entered({ until }));
}

/** undefined: the person no longer works in the shop, or runs the installation since the link was made. */
async function personOf(
  db: Visit<'anybody'>['db'] | Transaction,
  shopId: string,
  userId: string,
): Promise<UserWithSecrets | undefined> {
  const [user, role] = [await findUser(db, userId), await findRole(db, shopId, userId)];
  return role === undefined || user?.isHost ? undefined : user;
}

const shopName = ({ name, defaultLocale, shopId }: Settings): string =>
  textIn(name, defaultLocale, defaultLocale) ?? shopId;

function usedPage({ messages }: Visit<'anybody'>): AdminPage {
  return {
    status: 410,
    title: messages.signIn.linkUsedTitle,
    main: html`<p class="narrow">${messages.enter.used}</p>
      <p class="narrow actions"><a class="button" href="/admin/sign-in">${messages.signIn.title}</a></p>`,
  };
}
