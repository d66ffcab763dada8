import type { Config } from '../config.ts';
import type { Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { loadReadiness } from '../orders/readiness.ts';
import type { MediaStorage } from '../platform/media/storage.ts';
import { plansOf, type HostPlan } from '../platform/plans/plans.ts';
import { SettingsProblem, type SettingsFile } from '../shops/settings/file.ts';
import type { SettingsFormat } from '../shops/settings/format.ts';
import { changeSettings } from '../shops/settings/history.ts';
import { selectSettings } from '../shops/settings/settings.ts';
import { createShop } from '../shops/shop/create-shop.ts';
import type { DomainPolicy } from '../shops/shop/domain-policy.ts';
import type { NewShop } from '../shops/shop/insert-shop.ts';
import {
  findSimilarShop,
  updateDeletion,
  updateOpening,
  updatePlan,
  updateSuspension,
} from '../shops/shop/queries.ts';
import { recordChange, type Cause } from './log.ts';
import { lockHostedShop, type LockedShop } from './queries.ts';

/*
 * The actions of a host on shops, shared by the API at /host, the pages of the installation in the admin, and the
 * command line. Each function runs in the transaction of its caller.
 */

export interface CreationDeps {
  config: Config;
  media: MediaStorage;
  format: SettingsFormat;
  policy: DomainPolicy;
  readiness: Parameters<typeof loadReadiness>[2];
}

export interface Creation {
  /** Added to the settings of every new shop. */
  settings?: SettingsFile | undefined;
  /** Writes further data of the new shop, before it is decided whether it may open. */
  complete?: (tx: Transaction) => Promise<void>;
  isSuspended?: boolean;
  /** null or absent: the default one. */
  plan?: string | null;
  /** Runs at the end of the same transaction: it invites the owner, for example. */
  afterwards?: (tx: Transaction) => Promise<void>;
}

/**
 * Makes a shop that can sell after its owner has completed it. With everything given, nothing is left to decide, and
 * it is open. An id that is taken is refused by the constraint `shop_pkey`.
 */
export async function createHostedShop(
  tx: Transaction,
  deps: CreationDeps,
  shop: NewShop,
  cause: Cause,
  creation: Creation = {},
): Promise<void> {
  const { shopId } = shop;
  refuseUnknownPlan(deps.config, creation.plan ?? null);
  const similar = await findSimilarShop(tx, shopId);
  if (similar !== undefined) throw new Refusal('SHOP_ID_SIMILAR', { shop: similar });
  await createShop(tx, deps.media, shop);
  try {
    await completeShop(tx, deps, shop, cause, creation);
  } catch (error) {
    // The row of the shop is ours, and so are the files.
    await deps.media.removeShop(shopId);
    throw error;
  }
}

async function completeShop(
  tx: Transaction,
  { format, policy, readiness }: CreationDeps,
  { shopId, name }: NewShop,
  cause: Cause,
  { settings, complete, isSuspended = false, plan = null, afterwards }: Creation,
): Promise<void> {
  // Before the settings, which must fit into the plan.
  if (plan !== null) await updatePlan(tx, shopId, plan);
  if (settings) await changeSettings(tx, shopId, settings, format, cause.appName ?? cause.route, policy);
  await complete?.(tx);
  if (isSuspended) await updateSuspension(tx, shopId, tx.now);
  // Not through the cache: this transaction may be rolled back.
  const { ready } = await loadReadiness(tx, (await selectSettings(tx, shopId))!, readiness);
  if (ready) await updateOpening(tx, shopId, true);
  await recordChange(tx, shopId, 'SHOP_CREATED', cause, { name, ...(plan !== null && { plan }) });
  await afterwards?.(tx);
}

/** A shop that the host changes; 404 where there is none, 409 while it is being deleted. */
async function changeableShop(tx: Transaction, shopId: string): Promise<LockedShop> {
  const shop = await lockHostedShop(tx, shopId);
  if (!shop) throw new Refusal('SHOP_NOT_FOUND');
  if (shop.deletionAt !== null && shop.deletionAt <= tx.now) throw new Refusal('SHOP_DELETION_BEGUN');
  return shop;
}

/** Closes a shop for everyone but its admin. One that is closed already stays so, and nothing is recorded. */
export async function suspendShop(tx: Transaction, shopId: string, cause: Cause): Promise<void> {
  if ((await changeableShop(tx, shopId)).isSuspended) return;
  await updateSuspension(tx, shopId, tx.now);
  await recordChange(tx, shopId, 'SHOP_SUSPENDED', cause);
}

export async function resumeShop(tx: Transaction, shopId: string, cause: Cause): Promise<void> {
  if (!(await changeableShop(tx, shopId)).isSuspended) return;
  await updateSuspension(tx, shopId, null);
  await recordChange(tx, shopId, 'SHOP_RESUMED', cause);
}

const DAY = 86_400_000;

/** Days until a shop is deleted, unless another number is given. */
export const DELETION_DAYS = 30;

/** The shop is closed at once and deleted after these days. Planned again, the new time counts. */
export async function planDeletion(
  tx: Transaction,
  shopId: string,
  cause: Cause,
  days = DELETION_DAYS,
): Promise<void> {
  await changeableShop(tx, shopId);
  const deletionAt = new Date(tx.now.getTime() + days * DAY);
  await updateDeletion(tx, shopId, deletionAt);
  await recordChange(tx, shopId, 'SHOP_DELETION_PLANNED', cause, { deletionAt: deletionAt.toISOString() });
}

/** The shop is what it was before its deletion was planned: open, not open, or suspended. */
export async function cancelShopDeletion(tx: Transaction, shopId: string, cause: Cause): Promise<void> {
  if ((await changeableShop(tx, shopId)).deletionAt === null) return;
  await updateDeletion(tx, shopId, null);
  await recordChange(tx, shopId, 'SHOP_RESTORED', cause);
}

/** null: the default plan. What a shop has stays, also where a smaller plan would refuse it now. */
export async function setPlan(
  tx: Transaction,
  config: Config,
  shopId: string,
  plan: string | null,
  cause: Cause,
): Promise<void> {
  const { plan: before } = await changeableShop(tx, shopId);
  if (plan === before) return;
  refuseUnknownPlan(config, plan);
  await updatePlan(tx, shopId, plan);
  await recordChange(tx, shopId, 'SHOP_PLAN_CHANGED', cause, plan === null ? {} : { plan });
}

export function refuseUnknownPlan(config: Config, plan: string | null): void {
  const known = plansOf(config)?.byName ?? new Map<string, HostPlan>();
  if (plan === null || known.has(plan)) return;
  throw new Refusal('PLAN_UNKNOWN', { plan, plans: [...known.keys()].join(', ') });
}

/** The name in the default language of the shop. */
export async function renameShop(
  tx: Transaction,
  { format, policy }: Pick<CreationDeps, 'format' | 'policy'>,
  shopId: string,
  name: string,
  cause: Cause,
): Promise<void> {
  await changeableShop(tx, shopId);
  const { name: names, defaultLocale } = (await selectSettings(tx, shopId))!;
  const file = { name: { ...names, [defaultLocale]: name } };
  const { changes } = await changeSettings(tx, shopId, file, format, cause.appName ?? cause.route, policy);
  if (changes.length > 0) await recordChange(tx, shopId, 'SHOP_RENAMED', cause, { name });
}

/** Names the domains of a shop, in this order. New ones wait for their proof where the policy needs one. */
export async function nameDomains(
  tx: Transaction,
  { format, policy }: Pick<CreationDeps, 'format' | 'policy'>,
  shopId: string,
  change: (domains: readonly string[]) => string[],
  cause: Cause,
): Promise<void> {
  await changeableShop(tx, shopId);
  const domains = change((await selectSettings(tx, shopId))!.domains);
  const { changes } = await changeSettings(
    tx,
    shopId,
    { domains },
    format,
    cause.appName ?? cause.route,
    policy,
  );
  if (changes.length > 0) {
    await recordChange(tx, shopId, 'SHOP_DOMAINS_CHANGED', cause, { domains: domains.join(' ') });
  }
}

const SHOWN_PROBLEMS = 5;
const SHOWN_CHARACTERS = 1_000;

/** The first problems of settings, as the text of a refusal. */
export function settingsProblemText({ problems }: SettingsProblem): string {
  return problems.slice(0, SHOWN_PROBLEMS).join('; ').slice(0, SHOWN_CHARACTERS);
}

/** Runs work that applies settings, and refuses the request when they are wrong. */
export async function withSettingsRefused<Result>(
  code: 'SHOP_SETTINGS_INVALID' | 'DOMAIN_REFUSED',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    throw new Refusal(code, { problem: settingsProblemText(error) });
  }
}
