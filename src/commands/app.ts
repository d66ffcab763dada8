import { authorise, createApp, deleteApp, listApps, requireInstallable } from '../apps/apps.ts';
import { installationKey } from '../platform/sealing.ts';
import { configuredOrigin, shopUrl } from '../http/links.ts';
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
  'app create': ({ config, arguments: [shopId], options }) => {
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
  'app install': ({ config, arguments: [shopId, clientId], options }) =>
    withShop(config, shopId!, async (db) => {
      const origin = configuredOrigin(config);
      if (options['agreed'] !== true) {
        const { appId } = await requireInstallable(db, shopId!, clientId!);
        print(`${origin}/admin/shops/${shopId}/apps/${appId.toUpperCase()}/install`);
        return;
      }
      const key = await installationKey(config);
      const address = await db.transaction(async (tx) => {
        const made = await authorise(tx, key, shopId!, clientId!, shopUrl(origin, shopId!));
        await recordCommand(tx, shopId!, 'app install', { app: clientId! });
        return made;
      });
      print(address);
    }),
  'app list': ({ config, arguments: [shopId] }) =>
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
  'app delete': ({ config, arguments: [shopId, app] }) =>
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
} satisfies Handlers;
