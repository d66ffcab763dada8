import type { Config } from '../../config.ts';
import type { Transaction } from '../../db/database.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import type { Staff } from '../../host/staff.ts';
import { isId } from '../../kernel/ids.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { requireRoom } from '../../platform/plans/limits.ts';
import { selectSettings } from '../../shops/settings/settings.ts';
import { DEMO_OWNER } from './demo-owner.ts';
import { invitationEmail } from './invitation-email.ts';
import { insertLink, LINK_LIFETIME } from './links.ts';
import {
  deleteRole,
  deleteUser,
  findMembers,
  findOrCreateUser,
  findShopsOf,
  findUser,
  hasSignedIn,
  insertPendingRole,
  lockOwners,
  MAX_MEMBERS,
  type Member,
} from './queries.ts';

/**
 * Sends an invitation in the language of the shop. The link is only in the email: no one else may choose the user's
 * password, or accept.
 */
export async function sendInvitation(
  tx: Transaction,
  { shopId, locale, by }: { shopId: string; locale: string; by: string },
  { userId, email, isPending }: Pick<Member, 'userId' | 'email' | 'isPending'>,
): Promise<void> {
  const hasPassword = (await findUser(tx, userId))?.passwordHash != null;
  const linkId =
    isPending || !hasPassword ? await insertLink(tx, userId, LINK_LIFETIME.invitation, shopId) : null;
  await queueEmails(tx, shopId, invitationEmail, [{ to: email, locale, facts: { by, linkId } }]);
}

/** false: it is the last owner who has signed in. A shop without one could never change its staff. */
export async function hasOtherOwner(tx: Transaction, shopId: string, userId: string): Promise<boolean> {
  const owners = await lockOwners(tx, shopId);
  if (!owners.includes(userId)) return true;
  return hasSignedIn(
    tx,
    owners.filter((owner) => owner !== userId),
  );
}

/** Ends the work of a user in a shop. No data is kept of a user who no longer works anywhere. */
export async function removeMember(
  tx: Transaction,
  shopId: string,
  { userId, isHost }: Pick<Member, 'userId' | 'isHost'>,
): Promise<void> {
  await deleteRole(tx, shopId, userId);
  const isNeeded = isHost || (await findShopsOf(tx, userId)).length > 0;
  if (!isNeeded) await deleteUser(tx, userId);
}

const ownersOf = (members: readonly Member[]) => members.filter(({ role }) => role === 'owner');

/** The people of shops, for the host. */
export const staffOf = (config: Config): Staff => ({
  owners: async (db, shopId) =>
    ownersOf(await findMembers(db, shopId)).map(({ userId, email, isPending, signedInAt }) => ({
      ownerId: userId,
      email,
      isInvited: isPending,
      signedInAt,
    })),

  person: async (db, shopId, given) => {
    const email = given.toLowerCase();
    if (email === DEMO_OWNER) return undefined;
    const member = (await findMembers(db, shopId)).find((one) => one.email === email);
    return member && { userId: member.userId, isInvited: member.isPending, isHost: member.isHost };
  },

  inviteOwner: async (tx, shopId, { email: given, by }) => {
    const email = given.toLowerCase();
    if (email === DEMO_OWNER) throw invalid('UNKNOWN_VALUE', 'email');
    if ((await findMembers(tx, shopId)).length >= MAX_MEMBERS) {
      throw new Refusal('TOO_MANY_PEOPLE', { limit: MAX_MEMBERS });
    }
    await requireRoom({ db: tx, config }, shopId, 'people');
    const userId = await findOrCreateUser(tx, email);
    if (!(await insertPendingRole(tx, shopId, userId, 'owner'))) throw new Refusal('OWNER_EXISTS');
    // Not through the cache: the shop may be as new as the invitation.
    const { defaultLocale: locale } = (await selectSettings(tx, shopId))!;
    await sendInvitation(tx, { shopId, locale, by }, { userId, email, isPending: true });
    return userId;
  },

  removeOwner: async (tx, shopId, ownerId) => {
    const owners = isId(ownerId) ? ownersOf(await findMembers(tx, shopId)) : [];
    const owner = owners.find(({ userId }) => userId === ownerId);
    if (!owner) throw notFound('ownerId');
    const isLast = owners.length === 1 || !(await hasOtherOwner(tx, shopId, ownerId));
    if (isLast) throw new Refusal('LAST_OWNER');
    await removeMember(tx, shopId, owner);
  },
});
