import type { Config } from '../config.ts';
import type { Database, Queries } from '../db/database.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { causeOfCommand } from '../host/log.ts';
import { cancelShopDeletion, resumeShop } from '../host/shops.ts';
import { createProviders } from '../orders/payments/providers.ts';
import { loadReadiness, STEP_REASONS } from '../orders/readiness.ts';
import { installationKey } from '../platform/sealing.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { updateOpening } from '../shops/shop/queries.ts';
import type { Readiness, StepKey } from '../shops/shop/readiness.ts';
import { print, recordCommand, withShop } from './command.ts';
import { CommandProblem } from './problem.ts';

/** `shop open` */
export async function openFromCommand(config: Config, shopId: string, isForced: boolean): Promise<void> {
  await withShop(config, shopId, async (db) => {
    const deps = await readinessDeps(db, config);
    const lines = await db.transaction(async (tx) => {
      const settings = await shopSettings(tx, shopId);
      const readiness = await loadReadiness(tx, settings, deps);
      const mayOpen = settings.isOpen || readiness.ready || isForced;
      const missing = stepLines(readiness, config, shopId);
      if (!mayOpen && !settings.isSuspended) {
        for (const line of missing) print(line);
        throw new CommandProblem(`Shop ${shopId} is not ready to open: the list says what is missing.`);
      }
      const cause = causeOfCommand('shop open');
      await cancelShopDeletion(tx, shopId, cause);
      await resumeShop(tx, shopId, cause);
      if (mayOpen) await updateOpening(tx, shopId, true);
      if (!settings.isSuspended) await recordCommand(tx, shopId, 'shop open');
      return mayOpen
        ? [`Shop ${shopId} is open: everybody who can reach it can order.`]
        : [`Shop ${shopId} works again for its apps. It is not ready to open to visitors:`, ...missing];
    });
    for (const line of lines) print(line);
  });
}

export async function readinessDeps(db: Database, config: Config) {
  const demoAccess = await readDemoAccess(db, config);
  return { providers: createProviders(db, demoAccess), loadKey: () => installationKey(config) };
}

export async function readinessOfShop(
  db: Queries,
  shopId: string,
  deps: Awaited<ReturnType<typeof readinessDeps>>,
): Promise<Readiness & { isOpen: boolean }> {
  const settings = await shopSettings(db, shopId);
  return { ...(await loadReadiness(db, settings, deps)), isOpen: settings.isOpen };
}

const TITLES: Readonly<Record<StepKey, string>> = {
  address: 'Name and address',
  taxNumber: 'Tax number',
  bankAccount: 'Bank account or payment provider',
  delivery: 'Delivery',
  legalTexts: 'Legal texts',
  firstProduct: 'First product',
  testOrder: 'Test order',
};

/** The list of steps in words: what is done, and what is missing, why and where. */
export function stepLines({ steps }: Readiness, config: Config, shopId: string): string[] {
  const admin = `${adminOrigin(config)}/admin/shops/${shopId}`;
  return steps.flatMap(({ key, required, done, missing, path }) => {
    const title = TITLES[key];
    if (done) return [`  [x] ${title}`];
    const fields = missing.map(({ field }) => field).join(', ');
    return [
      `  [ ] ${title}${required ? '' : ' (recommended)'}: ${fields}`,
      `      ${STEP_REASONS[key]}`,
      `      ${admin}${path}`,
    ];
  });
}

const adminOrigin = ({ PUBLIC_URL, PORT }: Config) =>
  PUBLIC_URL?.replace(/\/$/, '') ?? `http://localhost:${PORT}`;
