import type { Transaction } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { hasFeature, planLimitReached } from '../../platform/plans/limits.ts';
import type { Feature } from '../../platform/plans/plans.ts';
import type { DomainPolicy } from '../shop/domain-policy.ts';
import type { Settings } from './settings.ts';

/** Refuses settings that the plan of the shop does not include. What the shop has already, it keeps. */
export async function refuseBeyondPlan(
  tx: Transaction,
  current: Settings,
  next: Settings,
  { planOf }: DomainPolicy,
): Promise<void> {
  const added = addedFeatures(current, next);
  const hasMoreLanguages = next.locales.length > current.locales.length;
  if (!hasMoreLanguages && added.length === 0) return;
  const plan = await planOf?.(tx, current.shopId);
  if (!plan) return;
  const { languages = Infinity, name } = plan;
  if (hasMoreLanguages && next.locales.length > languages)
    throw planLimitReached('languages', languages, name);
  const missing = added.find((feature) => !hasFeature(plan, feature));
  if (missing !== undefined) throw new Refusal('PLAN_FEATURE_MISSING', { feature: missing, plan: name });
}

function addedFeatures(current: Settings, next: Settings): Feature[] {
  const hasNewDomain = next.domains.some((host) => !current.domains.includes(host));
  const { feeds } = current;
  const hasNewFeed = (Object.keys(next.feeds) as (keyof Settings['feeds'])[]).some(
    (name) => next.feeds[name] && !feeds[name],
  );
  return [...(hasNewDomain ? (['ownDomain'] as const) : []), ...(hasNewFeed ? (['feeds'] as const) : [])];
}
