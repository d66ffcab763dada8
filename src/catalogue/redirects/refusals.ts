import type { Transaction } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { MAX_SOURCE_PARAMETERS } from './address.ts';
import { MAX_REDIRECTS } from './queries.ts';
import type { GivenRedirect, RedirectProblem } from './save.ts';

/** The hosts of the shop's pages: an address on one of them is one of the shop. */
export async function domainsOf(tx: Transaction, shopId: string): Promise<string[]> {
  const { domainsInUse } = await shopSettings(tx, shopId);
  return [...domainsInUse];
}

/** The problem as it is answered. Thrown, it ends the transaction, which then has written nothing. */
export function redirectRefusal({ kind, target }: GivenRedirect, problem: RedirectProblem): Refusal {
  switch (problem) {
    case 'REDIRECT_TARGET_UNKNOWN':
      return new Refusal(problem, { kind: kind ?? '', target: target ?? '' });
    case 'REDIRECT_SOURCE_TOO_SPECIFIC':
      return new Refusal(problem, { limit: MAX_SOURCE_PARAMETERS });
    case 'TOO_MANY_REDIRECTS':
      return new Refusal(problem, { limit: MAX_REDIRECTS });
    case 'REDIRECT_SOURCE_INVALID':
    case 'REDIRECT_SOURCE_HAS_PAGE':
    case 'REDIRECT_SOURCE_TAKEN':
    case 'REDIRECT_TARGET_MISSING':
    case 'REDIRECT_TARGET_INVALID':
    case 'REDIRECT_LOOP':
    case 'REDIRECT_CHAIN':
      return new Refusal(problem);
  }
}
