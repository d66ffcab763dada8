import { Type } from 'typebox';
import type { Queries } from '../db/database.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Nullable } from '../http/schemas.ts';
import { useDomain } from '../shops/settings/prove-domain.ts';
import { selectSettings } from '../shops/settings/settings.ts';
import { domainChallenges, findProof, type DomainProof } from '../shops/shop/domain-challenge.ts';
import { causeOf, recordChange } from './log.ts';
import { OfShop, ShopIdParameter, type HostDeps } from './routes.ts';
import { nameDomains, withSettingsRefused } from './shops.ts';

const MAX_DOMAINS = 20;

const HostName = Type.String({
  minLength: 1,
  maxLength: 259,
  description: 'A host name without a scheme.',
  examples: ['tea-house.example'],
});

const Domain = Type.Object(
  {
    domain: HostName,
    isInUse: Type.Boolean({
      description: 'Its pages answer there. Else it waits for its proof.',
      examples: [true],
    }),
    record: Nullable(
      Type.Object(
        {
          name: Type.String({
            description: 'The name of the DNS record.',
            examples: ['_kontor-challenge.tea-house.example'],
          }),
          text: Type.String({
            description: 'The text of a TXT record.',
            examples: ['kontor-domain-verification=0f343b0931126a20f133d67c2b018a3b'],
          }),
          label: Type.String({
            description: 'In its place: the first label of the name that a CNAME record leads to.',
            examples: ['0f343b0931126a20f133d67c2b018a3b'],
          }),
        },
        { title: 'domain proof', description: 'The proof that it waits for; null: none is needed.' },
      ),
    ),
  },
  { title: 'hosted domain' },
);

const DomainList = Type.Object(
  { items: Type.Array(Domain, { description: 'The domains, the one that links lead to first.' }) },
  { title: 'hosted domain list' },
);

const OfDomain = Type.Object({ shopId: ShopIdParameter, domain: HostName });

const listHostDomains = operation({
  under: 'host',
  method: 'GET',
  path: '/shops/:shopId/domains',
  name: 'listHostDomains',
  summary: 'List domains',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_read' },
  params: OfShop,
  answer: DomainList,
});

const addHostDomain = operation({
  under: 'host',
  method: 'POST',
  path: '/shops/:shopId/domains',
  name: 'addHostDomain',
  summary: 'Add domain',
  description:
    'It is used after a record in the DNS has proved it, or at once with `isConfirmed`, when the host itself knows whose it is.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfShop,
  body: Type.Object(
    {
      domain: HostName,
      isConfirmed: Type.Optional(
        Type.Boolean({ description: 'Used at once, without a record.', examples: [false] }),
      ),
    },
    { title: 'new hosted domain' },
  ),
  status: 201,
  answer: DomainList,
});

const checkHostDomain = operation({
  under: 'host',
  method: 'POST',
  path: '/shops/:shopId/domains/:domain/check',
  name: 'checkHostDomain',
  summary: 'Check domain',
  description: 'Looks the record up, and uses the domain when it is there.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfDomain,
  answer: DomainList,
});

const removeHostDomain = operation({
  under: 'host',
  method: 'DELETE',
  path: '/shops/:shopId/domains/:domain',
  name: 'removeHostDomain',
  summary: 'Remove domain',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfDomain,
  answer: DomainList,
});

export function hostDomains(api: Operations, deps: HostDeps): void {
  const { hosts, loadKey } = deps;

  const listed = async (db: Queries, shopId: string) => {
    const settings = await selectSettings(db, shopId);
    if (!settings) throw new Refusal('SHOP_NOT_FOUND');
    const challengeOf = domainChallenges(await loadKey());
    const isInUse = (host: string) => settings.domainsInUse.includes(host);
    return {
      items: settings.domains.map((domain) => ({
        domain,
        isInUse: isInUse(domain),
        record: isInUse(domain) ? null : challengeOf(shopId, domain),
      })),
    };
  };

  api.read(listHostDomains, ({ db, shopId }) => listed(db, shopId));

  api.write(addHostDomain, async ({ tx, shopId, body, caller, afterCommit }) => {
    const cause = causeOf(caller, addHostDomain);
    const host = body.domain.toLowerCase();
    await withSettingsRefused('DOMAIN_REFUSED', async () => {
      const change = (domains: readonly string[]) => {
        if (domains.includes(host)) return [...domains];
        if (domains.length >= MAX_DOMAINS) throw new Refusal('TOO_MANY_DOMAINS', { limit: MAX_DOMAINS });
        return [...domains, host];
      };
      await nameDomains(tx, deps, shopId, change, cause);
      if (body.isConfirmed) await useDomain(tx, shopId, host, 'command');
    });
    afterCommit(() => hosts.refresh());
    return listed(tx, shopId);
  });

  api.write(
    {
      ...checkHostDomain,
      // Name servers may take seconds, and no transaction waits for them.
      prepare: async ({
        db,
        shopId,
        params,
      }): Promise<{ prepared: DomainProof | undefined; discard: () => Promise<void> }> => {
        const host = params.domain.toLowerCase();
        const { items } = await listed(db, shopId);
        const found = items.find(({ domain }) => domain === host);
        if (!found) throw notFound('domain');
        const proof = found.record ? (await findProof(found.record)).proof : undefined;
        return { prepared: proof, discard: async () => {} };
      },
    },
    async ({ tx, shopId, params, caller, prepared: proof, afterCommit }) => {
      const host = params.domain.toLowerCase();
      if (proof) {
        const isUsed = await withSettingsRefused('DOMAIN_REFUSED', () => useDomain(tx, shopId, host, proof));
        if (!isUsed) throw notFound('domain');
        const cause = causeOf(caller, checkHostDomain);
        await recordChange(tx, shopId, 'SHOP_DOMAINS_CHANGED', cause, { domain: host, proof });
      }
      afterCommit(() => hosts.refresh());
      return listed(tx, shopId);
    },
  );

  api.write(removeHostDomain, async ({ tx, shopId, params, caller, afterCommit }) => {
    const host = params.domain.toLowerCase();
    const without = (domains: readonly string[]) => {
      if (!domains.includes(host)) throw notFound('domain');
      return domains.filter((domain) => domain !== host);
    };
    await nameDomains(tx, deps, shopId, without, causeOf(caller, removeHostDomain));
    afterCommit(() => hosts.refresh());
    return listed(tx, shopId);
  });
}
