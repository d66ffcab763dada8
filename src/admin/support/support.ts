import { Type } from 'typebox';
import { html, type Markup } from '../../http/html.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';
import {
  deleteGrant,
  findGrant,
  findSupportVisits,
  MAX_GRANT,
  putGrant,
  type SupportGrant,
  type SupportVisit,
} from '../../host/support.ts';
import { brandOf } from '../../platform/brand.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { chip, momentText } from '../components/format.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { endSession } from '../sign-in/enter.ts';
import { SUPPORT_ROLES } from '../users/permissions.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const HOUR = 3_600_000;

/** What an owner chooses from, beside a moment of their own. */
const DURATIONS = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR } as const;

const GRANT = declareForm(
  {
    body: Type.Object({
      duration: Type.String(),
      until: Type.String({ maxLength: 20 }),
      role: Type.String(),
    }),
  },
  ({ support: messages, roles }) => ({
    duration: {
      kind: 'choice',
      label: messages.duration,
      choices: (['hour', 'day', 'week', 'date'] as const).map((value) => ({
        value,
        text: messages.durations[value],
      })),
    },
    until: { kind: 'datetime-local', label: messages.until, hint: messages.untilHint },
    role: {
      kind: 'choice',
      label: messages.role,
      hint: messages.roleHint,
      choices: SUPPORT_ROLES.map((value) => ({ value, text: roles[value] })),
    },
  }),
);

/** The owner of a shop lets people of the host in, sees who was there, and ends it at once. */
export function supportPages(pages: ShopPages): void {
  pages.get('/support', 'users_write', async (visit) => supportPage(visit));

  pages.form(
    '/support/grant',
    { read: 'users_write', write: 'users_write' },
    { show: async (visit, _request, draft) => grantPage(visit, draft), save: grant },
    { needsReauthentication: true, ...optionsOf(GRANT) },
  );

  // Without a password: it must be quick, and takes nothing from the shop.
  pages.post('/support/end', 'users_write', async (visit) => {
    await visit.db.transaction(async (tx) => {
      if (await deleteGrant(tx, visit.shopId)) await recordAction(tx, visit, '/support/end');
    });
    return new Redirect(adminPath(visit, '/support'), visit.messages.support.ended);
  });

  // The end that the person of the host chooses.
  pages.post('/support/leave', 'member', async (visit) => {
    const { user } = visit;
    if (!user.support) return new Redirect(visit.base);
    await visit.db.transaction(async (tx) => {
      await endSession(tx, user);
      await recordAction(tx, visit, '/support/leave');
    });
    visit.setToken(null);
    return new Redirect('/admin/sign-in', visit.messages.support.left);
  });
}

async function grant(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const typed = readFields(GRANT, form, visit);
  const role = SUPPORT_ROLES.find((one) => one === typed.role);
  if (!role) throw refuseField('role', visit.messages.users.unknownRole);
  const endsAt = typedEnd(visit, typed);
  await visit.db.transaction(async (tx) => {
    // Those who are in by an earlier grant are out.
    await deleteGrant(tx, visit.shopId);
    await putGrant(tx, visit.shopId, { role, grantedBy: visit.user.email, endsAt });
    await recordAction(tx, visit, '/support/grant', { role, until: endsAt.toISOString() });
  });
  const until = momentText(endsAt, visit.language);
  return new Redirect(adminPath(visit, '/support'), visit.messages.support.granted({ until }));
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/;

function typedEnd(visit: ShopVisit, { duration, until }: { duration: string; until: string }): Date {
  const now = visit.db.serviceNow.getTime();
  if (isDuration(duration)) return new Date(now + DURATIONS[duration]);
  const at = MOMENT.test(until) ? Date.parse(`${until}Z`) : Number.NaN;
  if (!(at > now && at <= now + MAX_GRANT)) throw refuseField('until', visit.messages.support.wrongEnd);
  return new Date(at);
}

const isDuration = (text: string): text is keyof typeof DURATIONS => Object.hasOwn(DURATIONS, text);

async function supportPage(visit: ShopVisit): Promise<AdminPage> {
  const messages = visit.messages.support;
  const [open, visits] = await Promise.all([
    findGrant(visit.db, visit.shopId),
    findSupportVisits(visit.db, visit.shopId),
  ]);
  return {
    ...placeOf(visit),
    title: messages.title,
    main: html`<div class="stack">
      <section class="card">
        <h2>
          ${messages.access} ${open ? chip(messages.isOpen, 'warning') : chip(messages.isClosed, 'good')}
        </h2>
        ${open ? openGrant(visit, open) : closedGrant(visit)}
      </section>
      <section class="card">
        <h2>${messages.visits}</h2>
        ${
          visits.length === 0
            ? html`<p class="quiet">${messages.noVisits}</p>`
            : html`<ul class="things">
                ${visits.map((one) => visitLine(visit, one))}
              </ul>`
        }
      </section>
    </div>`,
  };
}

function openGrant(visit: ShopVisit, { role, grantedBy, endsAt }: SupportGrant): Markup {
  const messages = visit.messages.support;
  const roles: Readonly<Record<string, string>> = visit.messages.roles;
  return html`<p>
      ${messages.openUntil({ until: momentText(endsAt, visit.language), role: roles[role] ?? role, by: grantedBy })}
    </p>
    <p class="quiet">${messages.changeHint}</p>
    <div class="actions">
      ${buttonForm({ action: adminPath(visit, '/support/end'), text: messages.end, kind: 'danger' })}
      <a class="button" href="${adminPath(visit, '/support/grant')}">${messages.change}</a>
    </div>`;
}

const closedGrant = (visit: ShopVisit): Markup =>
  html`<p>${visit.messages.support.about({ host: brandOf(visit.config).name })}</p>
    <p>
      <a class="button main" href="${adminPath(visit, '/support/grant')}">${visit.messages.support.grant}</a>
    </p>`;

function visitLine(visit: ShopVisit, { name, email, reason, enteredAt, seenAt, isIn }: SupportVisit): Markup {
  const messages = visit.messages.support;
  return html`<li>
    <div>
      <strong>${name}</strong> ${email} ${isIn && chip(messages.isIn, 'warning')}
      <p>${reason}</p>
      <p class="quiet">
        ${messages.enteredAt}: ${momentText(enteredAt, visit.language)}, ${messages.lastSeen}:
        ${momentText(seenAt, visit.language)}
      </p>
    </div>
  </li>`;
}

function grantPage(visit: ShopVisit, draft?: Draft): AdminPage {
  const messages = visit.messages.support;
  const field = showFields(GRANT, visit, { values: { duration: 'day', role: SUPPORT_ROLES[0] }, draft });
  return {
    ...placeOf(visit),
    title: messages.grant,
    main: html`<form method="post" class="card narrow">
      ${problemOf(draft)}
      <p>${messages.about({ host: brandOf(visit.config).name })}</p>
      ${field('duration')} ${field('until')} ${field('role')}
      <p class="quiet">${messages.never}</p>
      <button class="main">${messages.grant}</button>
    </form>`,
  };
}

const placeOf = (visit: ShopVisit) => ({
  menu: 'settings' as const,
  breadcrumbs: [
    { href: adminPath(visit, '/settings'), text: visit.messages.layout.menuEntries.settings },
    { href: adminPath(visit, '/users'), text: visit.messages.users.title },
  ],
});
