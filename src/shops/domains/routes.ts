import { Type, type Static } from 'typebox';
import type { Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Nullable } from '../../http/schemas.ts';
import { domainChallenges } from '../shop/domain-challenge.ts';
import { domainPolicy } from '../shop/domain-policy.ts';
import { findDomainsOfShop, type NamedDomain } from './queries.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import { domainSteps, DOMAIN_STEP_REASONS, STEP_STATES, DOMAIN_STEPS, type DomainStep } from './steps.ts';

const texts = (values: readonly string[], description: string, example: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description, examples: [example] });

const Step = Type.Object(
  {
    step: texts(
      DOMAIN_STEPS,
      'proof: the domain is the shop’s own; routing: it points to this server; certificate: browsers get one.',
      'routing',
    ),
    state: texts(STEP_STATES, 'problem: it does not get better by waiting.', 'waiting'),
    reason: texts(DOMAIN_STEP_REASONS, 'Why the step is in this state.', 'pointsNowhere'),
    choices: Type.Array(
      Type.Object(
        {
          records: Type.Array(
            Type.Object(
              {
                type: texts(['TXT', 'CNAME', 'A', 'AAAA'], 'Type of the record.', 'CNAME'),
                name: Type.String({ description: 'Its name.', examples: ['www.shop.example'] }),
                value: Type.String({ description: 'Its value.', examples: ['shops.example'] }),
              },
              { title: 'domain record' },
            ),
            { description: 'The records to enter at the domain provider, all of them.' },
          ),
        },
        { title: 'domain record choice' },
      ),
      { description: 'Any one of these is enough; empty when there is nothing to enter.' },
    ),
  },
  { title: 'domain step' },
);

const DomainView = Type.Object(
  {
    host: Type.String({
      description: 'The domain as the shop has named it.',
      examples: ['www.shop.example'],
    }),
    used: Type.Boolean({ description: 'The pages of the shop are there.', examples: [true] }),
    done: Type.Boolean({ description: 'All steps are done.', examples: [false] }),
    checkedAt: Nullable(
      Type.String({
        description: 'When it was checked last; null: not yet.',
        examples: ['2026-11-18T12:00:00.000Z'],
      }),
    ),
    addresses: Type.Array(Type.String({ examples: ['203.0.113.5'] }), {
      description: 'Where it pointed then.',
    }),
    certificate: Nullable(
      Type.Object(
        {
          issuer: Type.String({ description: 'The authority.', examples: ["Let's Encrypt"] }),
          validUntil: Type.String({
            description: 'The end of its validity.',
            examples: ['2027-02-01T00:00:00.000Z'],
          }),
          names: Type.Array(Type.String({ examples: ['www.shop.example'] }), {
            description: 'The names it is for, the first ten.',
          }),
        },
        { title: 'domain certificate', description: 'What browsers got then; null: nothing was found.' },
      ),
    ),
    steps: Type.Array(Step, { description: 'The steps in the order in which they are done.' }),
  },
  { title: 'domain' },
);

const DomainList = Type.Object(
  { items: Type.Array(DomainView, { description: 'The domains that the shop has named.' }) },
  { title: 'domain list' },
);

const listDomains = operation({
  under: 'manage',
  method: 'GET',
  path: '/domains',
  name: 'listDomains',
  summary: 'List domains',
  description:
    'The domains of the shop, whether each is proved, points here and has a certificate, and what to enter at the domain provider. They are checked in the background, and in the admin with a button.',
  tag: 'shop',
  labels: [],
  access: 'orders_read',
  answer: DomainList,
});

export interface DomainDeps {
  config: Config;
  demoAccess: DemoAccess;
  service: ServiceAddresses;
  loadKey: () => Promise<Buffer>;
}

export function domainOperations(api: Operations, deps: DomainDeps): void {
  api.read(listDomains, async ({ db, shopId }) => ({
    items: (await domainsWithSteps(db, shopId, deps)).map(toView),
  }));
}

export interface DomainWithSteps extends NamedDomain {
  steps: DomainStep[];
}

export async function domainsWithSteps(
  db: Queries,
  shopId: string,
  { config, demoAccess, service, loadKey }: DomainDeps,
): Promise<DomainWithSteps[]> {
  const domains = await findDomainsOfShop(db, shopId);
  if (domains.length === 0) return [];
  const [key, addresses] = await Promise.all([loadKey(), service.find()]);
  const challengeOf = domainChallenges(key);
  const { needsProof } = domainPolicy(config, demoAccess);
  return domains.map((domain) => ({
    ...domain,
    steps: domainSteps(domain, {
      challenge: challengeOf(shopId, domain.host),
      needsProof,
      service: { ...service, addresses },
      now: db.now,
    }),
  }));
}

function toView({ steps, ...domain }: DomainWithSteps): Static<typeof DomainView> {
  const { host, isUsed, checkedAt, addresses, issuer, validUntil, names } = domain;
  return {
    host,
    used: isUsed,
    done: steps.every(({ state }) => state === 'done'),
    checkedAt: checkedAt?.toISOString() ?? null,
    addresses,
    certificate:
      validUntil === null ? null : { issuer: issuer ?? '', validUntil: validUntil.toISOString(), names },
    steps,
  };
}
