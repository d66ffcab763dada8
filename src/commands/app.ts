import { authorise, createApp, deleteApp, listApps } from '../shops/apps/apps.ts';
import { installationKey } from '../shops/apps/sealing.ts';
import { shopUrl } from '../http/links.ts';
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

export const appCommands: Command[] = [
  {
    name: 'app create',
    arguments: ['ID'],
    summary: 'Register an app; prints its id and secret.',
    details: `The secret is shown this once. Install the app with: npx kontor app install ID CLIENT_ID\n\n${scopesHelp()}`,
    example: 'app create MyShop --name Labels --callback https://labels.example/install --scopes orders_read',
    options: {
      name: { type: 'string', value: 'N', required: true, summary: 'Its name, unique in the shop.' },
      callback: {
        type: 'string',
        value: 'URL',
        required: true,
        summary: 'Where the installation calls the app.',
      },
      scopes: { type: 'string', value: 'all|A,B,C', required: true, summary: 'What it may do.' },
    },
    run: ({ config, arguments: [shopId], options }) => {
      const scopes = parseScopes(String(options['scopes']));
      return withShop(config, shopId!, async (db) => {
        const key = await installationKey(config);
        const { clientId, clientSecret } = await db.transaction(async (tx) => {
          const made = await createApp(tx, key, shopId!, {
            name: String(options['name']),
            callbackUrl: String(options['callback']),
            scopes,
          });
          await recordCommand(tx, shopId!, 'app create', { appId: made.clientId });
          return made;
        });
        print(`client_id      ${clientId}`);
        print(`client_secret  ${clientSecret}`);
      });
    },
  },
  {
    name: 'app install',
    arguments: ['ID', 'CLIENT_ID'],
    summary: 'Print the address that installs an app.',
    details:
      'Open it in a browser: the app gets a single-use code and exchanges it for its token within 10 minutes. An\nolder token of the app ends with that. Links are built from PUBLIC_URL, or HOST and PORT.',
    example: 'app install MyShop 0192D3A4-5B6C-7D8E-9F00-112233445566',
    run: ({ config, arguments: [shopId, clientId] }) =>
      withShop(config, shopId!, async (db) => {
        const key = await installationKey(config);
        const origin = config.PUBLIC_URL?.replace(/\/$/, '') ?? `http://${config.HOST}:${config.PORT}`;
        const address = await db.transaction(async (tx) => {
          const made = await authorise(tx, key, shopId!, clientId!, shopUrl(origin, shopId!));
          await recordCommand(tx, shopId!, 'app install', { app: clientId! });
          return made;
        });
        print(address);
      }),
  },
  {
    name: 'app list',
    arguments: ['ID'],
    summary: 'List the apps of a shop.',
    example: 'app list MyShop',
    run: ({ config, arguments: [shopId] }) =>
      withShop(config, shopId!, async (db) => {
        const apps = await listApps(db, shopId!);
        printTable(
          ['CLIENT ID', 'NAME', 'CREATED', 'SCOPES'],
          apps.map(({ clientId, name, createdAt, scopes }) => [
            clientId,
            name,
            createdAt.toISOString(),
            scopesText(scopes),
          ]),
        );
      }),
  },
  {
    name: 'app delete',
    arguments: ['ID', 'APP'],
    summary: 'Uninstall an app.',
    details: 'APP is its name or its client id. Its tokens and its script tags go with it.',
    example: 'app delete MyShop Labels',
    run: ({ config, arguments: [shopId, app] }) =>
      withShop(config, shopId!, async (db) => {
        const isDeleted = await db.transaction(async (tx) => {
          const deleted = await deleteApp(tx, shopId!, app!);
          if (deleted) await recordCommand(tx, shopId!, 'app delete', { app: app! });
          return deleted;
        });
        if (!isDeleted) {
          throw new CommandProblem(`${shopId} has no such app. See: npx kontor app list ${shopId}`);
        }
        print('Uninstalled.');
      }),
  },
];
