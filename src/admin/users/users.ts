import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { conflict, HttpError, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { requireRoom } from '../../platform/plans/limits.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { DEMO_OWNER } from './demo-owner.ts';
import { isRole, ROLES, type Role } from './permissions.ts';
import {
  findMembers,
  findOrCreateUser,
  insertPendingRole,
  MAX_MEMBERS,
  updateRole,
  type Member,
} from './queries.ts';
import { hasOtherOwner, removeMember, sendInvitation } from './staff.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

const MAX_EMAIL_LENGTH = 254;

const INVITATION = declareForm(
  {
    body: Type.Object({ email: Type.String({ maxLength: MAX_EMAIL_LENGTH }), role: Type.String() }),
  },
  ({ users: messages, signIn, roles }) => ({
    email: { kind: 'email', label: signIn.email, autocomplete: 'off', isRequired: true },
    role: {
      kind: 'choice',
      label: messages.role,
      choices: ROLES.map((value) => ({ value, text: roles[value] })),
    },
  }),
);

const ROUTE = '/users';
const AGAIN = { needsReauthentication: true };

/** A shop must not be used to send emails to strangers. */
const INVITATIONS_PER_HOUR = 30;

/** The staff of the shop, and their roles. A change takes effect with the next page that the user opens. */
export function users(pages: ShopPages): void {
  pages.form(
    '/users',
    { read: 'users_write', write: 'users_write' },
    { show: async (visit, _request, draft) => usersPage(visit, draft), save: invite },
    { ...AGAIN, ...optionsOf(INVITATION) },
  );

  pages.post(
    '/users/:userId/invite',
    'users_write',
    async (visit, form) => {
      const member = await memberOf(visit, form);
      const { userId, email } = member;
      await requireInvitationsLeft(visit, form);
      await visit.db.transaction(async (tx) => {
        await sendInvitation(tx, inviter(visit), member);
        await recordAction(tx, visit, `${ROUTE}/:userId/invite`, { userId });
      });
      return new Redirect(adminPath(visit, '/users'), visit.messages.users.invited({ email }));
    },
    AGAIN,
  );

  pages.post(
    '/users/:userId/role',
    'users_write',
    async (visit, form) => {
      const { userId, role: before, email } = await memberOf(visit, form);
      const { users: messages, roles } = visit.messages;
      const role = typedRole(visit, form);
      await visit.db.transaction(async (tx) => {
        if (role !== 'owner') await requireOtherOwner(tx, visit, userId);
        await updateRole(tx, visit.shopId, userId, role);
        await recordAction(tx, visit, `${ROUTE}/:userId/role`, { userId, role });
      });
      return new Redirect(afterChange(visit, userId, role), {
        text: messages.roleChanged({ email, role: roles[role] }),
        // A user who is no longer an owner could not undo it.
        undo:
          userId === visit.user.userId
            ? undefined
            : { action: adminPath(visit, `/users/${userId}/role`), fields: { role: before } },
      });
    },
    AGAIN,
  );

  pages.post(
    '/users/:userId/remove',
    'users_write',
    async (visit, form) => {
      const { userId, email, isHost } = await memberOf(visit, form);
      await visit.db.transaction(async (tx) => {
        await requireOtherOwner(tx, visit, userId);
        await recordAction(tx, visit, `${ROUTE}/:userId/remove`, { userId });
        // The response is always the same, because this shop must not learn whether the user works in another one.
        await removeMember(tx, visit.shopId, { userId, isHost });
      });
      return new Redirect(afterChange(visit, userId, undefined), visit.messages.users.removed({ email }));
    },
    AGAIN,
  );
}

async function invite(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { users: messages } = visit.messages;
  const email = readFields(INVITATION, form, visit).email.toLowerCase();
  if (!isEmailAddress(email) || email === DEMO_OWNER) {
    throw refuseField('email', visit.messages.signIn.wrongEmail);
  }
  const role = typedRole(visit, form);
  await requireInvitationsLeft(visit, form);
  await visit.db.transaction(async (tx) => {
    if ((await findMembers(tx, visit.shopId)).length >= MAX_MEMBERS) {
      throw conflict(messages.full({ most: MAX_MEMBERS }));
    }
    await requireRoom({ db: tx, config: visit.config }, visit.shopId, 'people');
    const userId = await findOrCreateUser(tx, email);
    const isNew = await insertPendingRole(tx, visit.shopId, userId, role);
    if (!isNew) throw conflict(messages.isMember({ email }));
    await recordAction(tx, visit, ROUTE, { userId, role });
    await sendInvitation(tx, inviter(visit), { userId, email, isPending: true });
  });
  return new Redirect(adminPath(visit, '/users'), messages.invited({ email }));
}

function typedRole(visit: ShopVisit, form: FormRequest): Role {
  const { role } = readFields(INVITATION, form, visit);
  if (!isRole(role)) throw refuseField('role', visit.messages.users.unknownRole);
  return role;
}

const inviter = ({ shopId, settings, user }: ShopVisit) => ({
  shopId,
  locale: settings.defaultLocale,
  by: user.email,
});

async function requireInvitationsLeft(visit: ShopVisit, form: FormRequest): Promise<void> {
  const isAllowed = await form.isWithinLimit(`invitations/${visit.shopId}`, INVITATIONS_PER_HOUR);
  if (!isAllowed) throw new HttpError(429, visit.messages.users.tooMany, { 'retry-after': '3600' });
}

async function memberOf({ db, shopId }: ShopVisit, form: FormRequest): Promise<Member> {
  const userId = form.params['userId']!;
  const members = isId(userId) ? await findMembers(db, shopId) : [];
  const member = members.find((one) => one.userId === userId.toUpperCase());
  if (!member) throw notFound();
  return member;
}

async function requireOtherOwner(tx: Transaction, visit: ShopVisit, userId: string): Promise<void> {
  if (!(await hasOtherOwner(tx, visit.shopId, userId))) throw conflict(visit.messages.users.lastOwner);
}

/** Users who removed their own permission go to a page that they may still see. */
function afterChange(visit: ShopVisit, userId: string, role: Role | undefined): string {
  if (userId !== visit.user.userId || role === 'owner') return adminPath(visit, '/users');
  return role === undefined ? '/admin' : visit.base;
}

async function usersPage(visit: ShopVisit, draft?: Draft): Promise<AdminPage> {
  const { users: messages, roles } = visit.messages;
  const members = await findMembers(visit.db, visit.shopId);
  const field = showFields(INVITATION, visit, { values: { role: 'manager' }, draft });
  return {
    title: messages.title,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    actions: html`<a class="button" href="${adminPath(visit, '/support')}"
      >${visit.messages.support.title}</a
    >`,
    main: html`<div class="sides">
        <section class="card">
          <h2>${messages.people}</h2>
          <ul class="things">
            ${members.map((member) => memberLine(visit, member, members))}
          </ul>
        </section>
        <form method="post" class="card">
          <h2>${messages.invite}</h2>
          ${problemOf(draft)} ${field('email')} ${field('role')}
          <p class="quiet">${messages.inviteHint}</p>
          <button class="main">${messages.sendInvitation}</button>
        </form>
      </div>
      <section class="card">
        <h2>${messages.whatRolesMay}</h2>
        <dl class="pairs">
          ${ROLES.map(
            (role) =>
              html`<dt>${roles[role]}</dt>
                <dd>${messages.roleTexts[role]}</dd>`,
          )}
        </dl>
      </section>`,
  };
}

const isWaiting = ({ isPending, signedInAt }: Member) => isPending || signedInAt === null;

function memberLine(visit: ShopVisit, member: Member, members: readonly Member[]): Markup {
  const { userId, email, role, signedInAt } = member;
  const isLastOwner =
    role === 'owner' &&
    !member.isPending &&
    !members.some((other) => other.userId !== userId && other.role === 'owner' && !isWaiting(other));
  const { users: messages, roles } = visit.messages;
  const action = (name: string) => adminPath(visit, `/users/${userId}/${name}`);
  return html`<li>
    <div>
      <strong>${email}</strong>
      ${userId === visit.user.userId && html`<span class="chip">${messages.you}</span>`}
      <p class="quiet">
        ${
          isWaiting(member)
            ? html`<span class="chip warning">${messages.waiting}</span>`
            : html`${messages.lastSignIn} ${dayText(signedInAt!, visit.language)}`
        }
      </p>
    </div>
    <div class="actions">
      ${isWaiting(member) && buttonForm({ action: action('invite'), text: messages.inviteAgain })}
      ${
        isLastOwner
          ? html`<span class="chip">${roles.owner}</span>`
          : html`<form method="post" action="${action('role')}" class="line-form">
                <label class="hidden" for="role-${userId}">${messages.roleOf({ email })}</label>
                <select id="role-${userId}" name="role">
                  ${ROLES.map(
                    (value) =>
                      html`<option value="${value}" ${value === role && html`selected`}>
                        ${roles[value]}
                      </option>`,
                  )}
                </select>
                <button>${messages.changeRole}</button>
              </form>
              ${buttonForm({ action: action('remove'), text: messages.remove, kind: 'danger', confirm: messages.removeQuestion({ email }) })}`
      }
    </div>
  </li>`;
}
