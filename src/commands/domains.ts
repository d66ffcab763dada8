import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { readDemoAccess } from '../http/demo-access.ts';
import { installationKey } from '../platform/sealing.ts';
import { SettingsProblem } from '../shops/settings/problem.ts';
import { useDomain } from '../shops/settings/prove-domain.ts';
import { selectSettings } from '../shops/settings/settings.ts';
import { domainChallenges, findProof } from '../shops/shop/domain-challenge.ts';
import { domainPolicy } from '../shops/shop/domain-policy.ts';
import { print, recordCommand, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  'shop confirm-domain': ({ config, arguments: [shopId, given] }) =>
    withShop(config, shopId!, async (db) => {
      const host = given!.toLowerCase();
      const { isOfService } = domainPolicy(config, await readDemoAccess(db, config));
      if (isOfService(host)) throw new CommandProblem(`This service itself is at ${host}.`);
      try {
        await db.transaction(async (tx) => {
          if (!(await useDomain(tx, shopId!, host, 'command'))) {
            throw new CommandProblem(
              `${JSON.stringify(given)} is not among the domains of ${shopId}. Add it to the settings first, in the admin or with: npx kontor shop apply`,
            );
          }
          await recordCommand(tx, shopId!, 'shop confirm-domain', { host });
        });
      } catch (error) {
        if (!(error instanceof SettingsProblem)) throw error;
        throw new CommandProblem(error.problems.join('\n'), { cause: error });
      }
      print(`Shop ${shopId} uses ${host}, within seconds.`);
    }),
} satisfies Handlers;

async function findPendingDomains(db: Database, shopId: string): Promise<string[]> {
  const { domains, domainsInUse } = (await selectSettings(db, shopId))!;
  return domains.filter((host) => !domainsInUse.includes(host));
}

/** Uses the domains of a restored shop whose proofs are still there. */
export async function proveDomains(db: Database, config: Config, shopId: string): Promise<void> {
  const challengeOf = domainChallenges(await installationKey(config));
  const pending = await findPendingDomains(db, shopId);
  const found = await Promise.all(
    pending.map(async (host) => ({ host, ...(await findProof(challengeOf(shopId, host))) })),
  );
  for (const { host, proof } of found) {
    if (proof) await db.transaction((tx) => useDomain(tx, shopId, host, proof));
  }
}

/** Prints which domains of a shop wait for their proof, and what to do. */
export async function printPendingDomains(db: Database, config: Config, shopId: string): Promise<void> {
  const challengeOf = domainChallenges(await installationKey(config));
  for (const host of await findPendingDomains(db, shopId)) {
    const { name, text } = challengeOf(shopId, host);
    print(
      `${host} is not used yet: it waits for the record ${name} TXT "${text}" and a check in the admin (Settings, Domains). If you know whose it is: npx kontor shop confirm-domain ${shopId} ${host}`,
    );
  }
}
