import { createToken, listTokens, revokeToken } from '../shops/apps/apps.ts';
import {
  CommandProblem,
  parseScopes,
  print,
  printTable,
  recordCommand,
  scopesHelp,
  scopesText,
  withShop,
  type Command,
} from './command.ts';

export const tokenCommands: Command[] = [
  {
    name: 'token create',
    arguments: ['ID'],
    summary: 'Create an access token and print it.',
    details: `The token is shown this once, alone on stdout; the database keeps only its hash.\n\n${scopesHelp()}`,
    example: 'token create MyShop --scopes products_read,orders_read --expires 90d',
    options: {
      scopes: { type: 'string', value: 'all|A,B,C', required: true, summary: 'What it may do.' },
      app: { type: 'string', value: 'NAME', summary: 'The app it belongs to (default: private app).' },
      expires: { type: 'string', value: 'DAYSd|DATE', summary: 'When it ends: 90d, or 2027-01-31.' },
      networks: { type: 'string', value: 'CIDR,CIDR', summary: 'Where calls may come from: 203.0.113.0/24.' },
    },
    run: ({ config, arguments: [shopId], options }) => {
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
  },
  {
    name: 'token list',
    arguments: ['ID'],
    summary: 'List the tokens of a shop.',
    example: 'token list MyShop',
    run: ({ config, arguments: [shopId] }) =>
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
  },
  {
    name: 'token revoke',
    arguments: ['ID', 'TOKEN'],
    summary: 'Revoke a token.',
    details:
      'TOKEN is the token itself, or what token list shows of it. Running services refuse it within 5 seconds.',
    example: 'token revoke MyShop 3f9a61c04b7e',
    run: ({ config, arguments: [shopId, token] }) =>
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
  },
];

const DAYS = /^(\d{1,4})d$/;
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/;

/** null: it is not limited. */
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
