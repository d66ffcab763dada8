import { deleteTotp } from '../admin/account/second-factor.ts';
import { configuredOrigin } from '../http/links.ts';
import { DEMO_OWNER } from '../admin/users/demo-owner.ts';
import { insertLink, LINK_LIFETIME, linkTokens } from '../admin/users/links.ts';
import { isRole, ROLES } from '../admin/users/permissions.ts';
import {
  deleteOtherAdminSessions,
  deleteRole,
  deleteUser,
  findOrCreateUser,
  findShopsOf,
  findUserByEmail,
  findUsers,
  lockOwners,
  putRole,
  updateHost,
  type User,
} from '../admin/users/queries.ts';
import type { Config } from '../config.ts';
import type { Transaction } from '../db/database.ts';
import { isEmailAddress } from '../platform/email/address.ts';
import { installationKey } from '../platform/sealing.ts';
import { findShop } from '../shops/shop/queries.ts';
import { noSuchShop, print, printTable, recordCommand, withDatabase, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

const MAX_LISTED = 1_000;

export const handlers = {
  'user create': async ({ config, arguments: [given], options }) => {
    const email = given!.toLowerCase();
    const { shop, host } = options;
    const role = options['role'] ?? 'owner';
    if (!isEmailAddress(email) || email === DEMO_OWNER) {
      throw new CommandProblem(`${JSON.stringify(given)} is not an email address.`);
    }
    if (typeof role !== 'string' || !isRole(role)) {
      throw new CommandProblem(`Unknown role ${JSON.stringify(role)}. The roles are: ${ROLES.join(', ')}`);
    }
    if (shop === undefined && host === undefined) {
      throw new CommandProblem('Say where the user works: --shop ID, or --host for the whole installation.');
    }
    await withDatabase(config, async (db) => {
      if (shop !== undefined && !(await findShop(db, String(shop)))) throw noSuchShop(String(shop));
      const linkId = await db.transaction(async (tx) => {
        const userId = await findOrCreateUser(tx, email);
        if (host === true) await updateHost(tx, userId, true);
        if (shop !== undefined) {
          await putRole(tx, String(shop), userId, role);
          await recordCommand(tx, String(shop), 'user create', { userId, role });
        }
        const user = await findUserByEmail(tx, email);
        return user!.passwordHash === null ? insertLink(tx, userId, LINK_LIFETIME.reset) : undefined;
      });
      if (linkId === undefined)
        print(`${email} has a password already: sign in at ${configuredOrigin(config)}/admin`);
      else await printLink(config, linkId);
    });
  },
  'user reset': ({ config, arguments: [email], options }) =>
    withDatabase(config, async (db) => {
      const linkId = await db.transaction(async (tx) => {
        if (email!.toLowerCase() === DEMO_OWNER) throw noSuchUser(email!);
        const user = await requireUser(tx, email!);
        if (options['remove-authenticator'] === true) await deleteTotp(tx, user.userId);
        await deleteOtherAdminSessions(tx, user.userId, null);
        await recordInShops(tx, user.userId, 'user reset');
        return insertLink(tx, user.userId, LINK_LIFETIME.reset);
      });
      await printLink(config, linkId);
    }),
  'user delete': ({ config, arguments: [email] }) =>
    withDatabase(config, async (db) => {
      await db.transaction(async (tx) => {
        const user = await requireUser(tx, email!);
        await endRoles(tx, user);
        await deleteUser(tx, user.userId);
      });
      print(`Deleted the user ${email!.toLowerCase()}.`);
    }),
  'user list': ({ config }) =>
    withDatabase(config, async (db) => {
      const users = await findUsers(db, MAX_LISTED);
      if (users.length === 0) {
        print('No users yet. Create one: npx kontor user create EMAIL --shop ID --role owner');
        return;
      }
      const rows: string[][] = [];
      for (const { userId, email, isHost, signedInAt } of users) {
        const shops = await findShopsOf(db, userId);
        rows.push([
          email,
          isHost ? 'yes' : 'no',
          signedInAt?.toISOString() ?? 'never',
          shops
            .map(({ shopId, role, isPending }) => `${shopId} (${role}${isPending ? ', invited' : ''})`)
            .join(', ') || 'none',
        ]);
      }
      printTable(['EMAIL', 'HOST', 'LAST SIGN-IN', 'SHOPS'], rows);
    }),
} satisfies Handlers;

async function recordInShops(tx: Transaction, userId: string, command: string): Promise<void> {
  for (const { shopId } of await findShopsOf(tx, userId)) {
    await recordCommand(tx, shopId, command, { userId });
  }
}

/** In all shops, even beyond the limit of a user's shop list. */
async function endRoles(tx: Transaction, { userId, email }: User): Promise<void> {
  for (let shops = await findShopsOf(tx, userId); shops.length > 0; shops = await findShopsOf(tx, userId)) {
    for (const { shopId } of shops) {
      const owners = await lockOwners(tx, shopId);
      if (owners.length === 1 && owners[0] === userId) {
        throw new CommandProblem(
          `${email} is the only owner of the shop ${shopId}. Make somebody else its owner first: npx kontor user create EMAIL --shop ${shopId}`,
        );
      }
      await deleteRole(tx, shopId, userId);
      await recordCommand(tx, shopId, 'user delete', { userId });
    }
  }
}

async function requireUser(tx: Transaction, email: string): Promise<User> {
  const user = await findUserByEmail(tx, email);
  if (!user) throw noSuchUser(email);
  return user;
}

const noSuchUser = (email: string) =>
  new CommandProblem(`There is no user ${JSON.stringify(email)}. See: npx kontor user list`);

/** The only output on stdout. */
async function printLink(config: Config, linkId: string): Promise<void> {
  print(linkTokens(await installationKey(config)).urlOf(configuredOrigin(config), linkId));
}
