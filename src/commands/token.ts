import { createToken, listTokens, revokeToken } from '../apps/apps.ts';
import {
  parseScopes,
  print,
  printTable,
  recordCommand,
  scopesText,
  withShop,
  type Handlers,
} from './command.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  'token create': ({ config, arguments: [shopId], options }) => {
    const scopes = parseScopes(String(options['scopes']));
    return withShop(config, shopId!, async (db) => {
      const app = String(options['app'] ?? 'private app');
      const token = await db.transaction(async (tx) => {
        const made = await createToken(tx, shopId!, {
          app,
          scopes,
          expiresAt: parseEnd(options['expires'], tx.now),
          networks: options['networks'] === undefined ? null : String(options['networks']).split(','),
        });
        await recordCommand(tx, shopId!, 'token create', { app });
        return made;
      });
      print(token);
    });
  },
  'token list': ({ config, arguments: [shopId] }) =>
    withShop(config, shopId!, async (db) => {
      const tokens = await listTokens(db, shopId!);
      printTable(
        ['TOKEN', 'APP', 'CREATED', 'LAST USE', 'ENDS', 'NETWORKS', 'SCOPES'],
        tokens.map(({ id, app, createdAt, lastUsedAt, expiresAt, networks, scopes }) => [
          id,
          app,
          createdAt.toISOString(),
          lastUsedAt?.toISOString() ?? 'never',
          expiresAt?.toISOString() ?? 'never',
          networks?.join(',') ?? 'any',
          scopesText(scopes),
        ]),
      );
    }),
  'token revoke': ({ config, arguments: [shopId, token] }) =>
    withShop(config, shopId!, async (db) => {
      const isRevoked = await db.transaction(async (tx) => {
        const revoked = await revokeToken(tx, shopId!, token!);
        if (revoked) await recordCommand(tx, shopId!, 'token revoke');
        return revoked;
      });
      if (!isRevoked) {
        throw new CommandProblem(`${shopId} has no such token. See: npx kontor token list ${shopId}`);
      }
      print('Revoked.');
    }),
} satisfies Handlers;

const DAYS = /^(\d{1,4})d$/;
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/;

/** null: no expiry. */
function parseEnd(text: string | boolean | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const days = DAYS.exec(String(text))?.[1];
  if (days !== undefined) return new Date(now.getTime() + Number(days) * 86_400_000);
  const end = new Date(String(text));
  if (DATE.test(String(text)) && !Number.isNaN(end.getTime())) return end;
  throw new CommandProblem(
    `--expires is a number of days (90d) or a date (2027-01-31), not ${JSON.stringify(text)}.`,
  );
}
