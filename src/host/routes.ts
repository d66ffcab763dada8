import { Type, type Static } from 'typebox';
import { Refusal, invalid } from '../http/errors.ts';
import { parseMoment } from '../http/dates.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Nullable, Timestamp } from '../http/schemas.ts';
import { isCurrency } from '../kernel/money.ts';
import type { Queries } from '../db/database.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../platform/email/address.ts';
import { usedLimits } from '../platform/plans/limits.ts';
import { planNamed } from '../platform/plans/plans.ts';
import { isCountry } from '../shops/countries/countries.ts';
import type { SettingsFile } from '../shops/settings/file.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import { currencyOf, localeOf } from '../shops/shop/starter-settings.ts';
import { findGoodTimes, findBackupPlan } from './backups/queries.ts';
import { causeOf, recordChange } from './log.ts';
import { findHostedShop, findHostedShops, SHOP_STATES, type HostedShop } from './queries.ts';
import { NewShopId, OfShop, PlanName, ShopIdParameter } from './schema.ts';
import {
  createHostedShop,
  DELETION_DAYS,
  planDeletion,
  renameShop,
  cancelShopDeletion,
  resumeShop,
  setPlan,
  suspendShop,
  withSettingsRefused,
  type CreationDeps,
} from './shops.ts';
import type { Staff } from './staff.ts';

export { OfShop, ShopIdParameter } from './schema.ts';

export interface HostDeps extends CreationDeps {
  hosts: Pick<ShopHosts, 'refresh'>;
  staff: Staff;
  loadKey: () => Promise<Buffer>;
}

const Moment = (description: string) => Nullable({ ...Timestamp, description });

const Shop = Type.Object(
  {
    shopId: ShopIdParameter,
    name: Type.String({ description: 'The name in the default language.', examples: ['Tea House'] }),
    state: Type.Enum([...SHOP_STATES], {
      description:
        '`notOpen`: the merchant has not opened it yet. `suspended`: the host has closed it. `deletionPlanned`: it is closed, and deleted at `deletionAt`.',
      examples: ['open'],
    }),
    plan: Nullable(
      Type.String({ description: 'The name of its plan; null: the default one.', examples: ['small'] }),
    ),
    domain: Nullable(
      Type.String({ description: 'The domain that links lead to.', examples: ['tea-house.example'] }),
    ),
    createdAt: { ...Timestamp, description: 'When it was created.' },
    suspendedAt: Moment('When it was suspended; null: it is not.'),
    deletionAt: Moment('When it is deleted; null: it stays.'),
    orders: Type.Integer({ description: 'Orders that it has numbered.', examples: [1204] }),
    mediaBytes: Type.Integer({ description: 'The size of its images.', examples: [73400320] }),
    backupAt: Moment(
      'When its last whole backup was made, or was found to be still what the shop is; null: there is none.',
    ),
    adminUrl: Type.String({
      description: 'The admin of the shop.',
      examples: ['https://shops.example/admin/shops/TeaHouse'],
    }),
  },
  { title: 'hosted shop' },
);

export const Owner = Type.Object(
  {
    ownerId: Type.String({
      description: 'The id of the person.',
      examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
    }),
    email: Type.String({ description: 'The email address.', examples: ['owner@tea-house.example'] }),
    isInvited: Type.Boolean({
      description: 'The invitation has not been accepted yet.',
      examples: [false],
    }),
    signedInAt: Moment('The last sign-in, in any shop; null: never.'),
  },
  { title: 'owner' },
);

const WholeShop = Type.Object(
  {
    ...Shop.properties,
    owners: Type.Array(Owner, { description: 'Who owns it.' }),
    limits: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'The limit.', examples: ['products'] }),
          used: Type.Number({ description: 'How much is used.', examples: [140] }),
          limit: Type.Integer({ description: 'How much there may be.', examples: [1000] }),
        },
        { title: 'used limit' },
      ),
      { description: 'The limits of its plan that are counted, and how much of them is used.' },
    ),
  },
  { title: 'hosted shop with owners' },
);

const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '\\S',
  description: 'The name of the shop, as customers read it.',
  examples: ['Tea House'],
});

const email = (description: string) =>
  Type.String({
    maxLength: MAX_EMAIL_ADDRESS_LENGTH,
    description,
    examples: ['owner@tea-house.example'],
  });

const MAX_LANGUAGES = 20;

const createHostShop = operation({
  under: 'host',
  method: 'POST',
  path: '/shops',
  name: 'createHostShop',
  summary: 'Create shop',
  description:
    'A shop with the taxes of its country, a delivery and a payment method, drafts of its legal texts and a logo. `settings` is a settings document as `kontor shop apply` takes it, on top of that; with everything given that a shop needs to sell, it is open at once. The owner gets an invitation by email.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  constraints: { shop_pkey: () => new Refusal('SHOP_ID_TAKEN') },
  body: Type.Object(
    {
      shopId: NewShopId,
      name: Name,
      email: email('Where customers write to.'),
      country: Type.String({
        maxLength: 2,
        description: 'Where the shop sits, ISO 3166-1 alpha-2.',
        examples: ['DE'],
      }),
      languages: Type.Optional(
        Type.Array(
          Type.String({
            pattern: '^[a-z]{2}_[A-Z]{2}$',
            maxLength: 5,
            description: 'Language and country.',
            examples: ['de_DE'],
          }),
          {
            minItems: 1,
            maxItems: MAX_LANGUAGES,
            description: 'Its languages, the default one first. Absent: that of the country.',
          },
        ),
      ),
      currencies: Type.Optional(
        Type.Array(Type.String({ maxLength: 3, description: 'ISO 4217.', examples: ['EUR'] }), {
          minItems: 1,
          maxItems: 1,
          description:
            'Its currency; more of them need exchange rates, in `settings`. Absent: that of the country.',
        }),
      ),
      settings: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'A settings document: schema/shop-settings.schema.json.',
          examples: [{ slogan: 'Fresh leaves' }],
        }),
      ),
      owner: Type.Optional(email('Who owns it: gets an invitation.')),
      plan: Type.Optional(PlanName),
      isSuspended: Type.Optional(
        Type.Boolean({ description: 'Created closed; resume it later.', examples: [false] }),
      ),
    },
    { title: 'new hosted shop' },
  ),
  status: 201,
  answer: WholeShop,
});

const listHostShops = operation({
  under: 'host',
  method: 'GET',
  path: '/shops',
  name: 'listHostShops',
  summary: 'List shops',
  description: 'In the order of their ids. Go on with `after`, the last id of a page, until `next` is null.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_read' },
  query: Type.Object({
    state: Type.Optional(
      Type.Enum([...SHOP_STATES], { description: 'Only shops in this state.', examples: ['open'] }),
    ),
    plan: Type.Optional(
      Type.String({
        maxLength: 63,
        description: 'Only shops of this plan; empty: of the default one.',
        examples: ['small'],
      }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'The beginning of an id, or a part of a name, in any case.',
        examples: ['tea'],
      }),
    ),
    createdAfter: Type.Optional(
      Type.String({
        description: 'Only shops created after this moment.',
        examples: ['2026-11-01T00:00:00Z'],
      }),
    ),
    createdBefore: Type.Optional(
      Type.String({ description: 'Only shops created before it.', examples: ['2026-12-01T00:00:00Z'] }),
    ),
    after: Type.Optional(
      Type.String({ maxLength: 63, description: 'Only ids after this one.', examples: ['TeaHouse'] }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: 500,
      default: 100,
      description: 'The number of shops, at most 500.',
      examples: [100],
    }),
  }),
  answer: Type.Object(
    {
      items: Type.Array(Shop, { description: 'The shops.' }),
      next: Nullable(
        Type.String({
          description: 'What to send as `after`; null: that was the last page.',
          examples: ['TeaHouse'],
        }),
      ),
    },
    { title: 'hosted shop list' },
  ),
});

const getHostShop = operation({
  under: 'host',
  method: 'GET',
  path: '/shops/:shopId',
  name: 'getHostShop',
  summary: 'Get shop',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_read' },
  params: OfShop,
  answer: WholeShop,
});

const setHostShopName = operation({
  under: 'host',
  method: 'PUT',
  path: '/shops/:shopId/name',
  name: 'setHostShopName',
  summary: 'Rename shop',
  description: 'In its default language.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfShop,
  body: Type.Object({ name: Name }, { title: 'shop name' }),
  answer: WholeShop,
});

const setHostShopPlan = operation({
  under: 'host',
  method: 'PUT',
  path: '/shops/:shopId/plan',
  name: 'setHostShopPlan',
  summary: 'Set plan',
  description:
    'The limits of the plan count from now on, within seconds in all processes. What exists stays, also where the plan is smaller.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfShop,
  body: Type.Object(
    {
      plan: Nullable({ ...PlanName, description: 'The name of the plan; null: the default one.' }),
    },
    { title: 'shop plan' },
  ),
  answer: WholeShop,
});

const CLOSED =
  'Its pages answer 503 and say that the shop is paused, and its API answers 403 `SHOP_SUSPENDED`, within seconds. Its admin stays open, and nothing is lost.';

const action = (path: string, name: string, summary: string, description: string) =>
  operation({
    under: 'host',
    method: 'POST',
    path: `/shops/:shopId/${path}`,
    name,
    summary,
    description,
    tag: 'host',
    labels: [],
    access: { host: 'host_shops_write' },
    params: OfShop,
    answer: WholeShop,
  });

const ACTIONS = [
  { declared: action('suspend', 'suspendHostShop', 'Suspend shop', CLOSED), run: suspendShop },
  {
    declared: action('resume', 'resumeHostShop', 'Resume shop', 'Ends what suspending did.'),
    run: resumeShop,
  },
  {
    declared: action(
      'restore',
      'restoreHostShop',
      'Restore shop',
      'Takes back a planned deletion, until it begins. The shop is then what it was before: open, not open or suspended.',
    ),
    run: cancelShopDeletion,
  },
];

const deleteHostShop = operation({
  under: 'host',
  method: 'DELETE',
  path: '/shops/:shopId',
  name: 'deleteHostShop',
  summary: 'Delete shop',
  description: `The shop is closed at once as a suspended one is, and deleted with everything in it after the delay. Until then it can be restored. ${CLOSED}`,
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_write' },
  params: OfShop,
  query: Type.Object({
    days: Type.Integer({
      minimum: 0,
      maximum: 365,
      default: DELETION_DAYS,
      description: 'The delay in days. 0: it begins within minutes, and can not be taken back.',
      examples: [DELETION_DAYS],
    }),
  }),
  answer: WholeShop,
});

const EARLIEST = '1970-01-01T00:00:00Z';
const LATEST = '9999-01-01T00:00:00Z';

/** The shops of the installation, for the systems of the host. */
export function hostShops(api: Operations, deps: HostDeps): void {
  const { staff, hosts } = deps;

  const shopView = async (db: Queries, shopId: string, origin: string): Promise<Static<typeof WholeShop>> => {
    const shop = await findHostedShop(db, shopId);
    if (!shop) throw new Refusal('SHOP_NOT_FOUND');
    const owners = await staff.owners(db, shopId);
    const backup = await findBackupPlan(db, shopId);
    const plan = planNamed(deps.config, shop.plan);
    return {
      ...toShop(shop, origin, backup?.goodAt),
      owners: owners.map((owner) => ({ ...owner, signedInAt: owner.signedInAt?.toISOString() ?? null })),
      limits: plan ? await usedLimits(db, shopId, plan) : [],
    };
  };

  /** Other processes notice within seconds. */
  const refresh = async (shopId: string) => {
    api.callers.invalidate(shopId);
    await hosts.refresh();
  };

  api.write(createHostShop, async ({ tx, body, caller, origin, afterCommit }) => {
    const { shopId, owner, plan = null, isSuspended = false } = body;
    if (owner !== undefined && !isEmailAddress(owner)) throw invalid('WRONG_FORMAT', 'owner');
    const cause = causeOf(caller, createHostShop);
    await withSettingsRefused('SHOP_SETTINGS_INVALID', () =>
      createHostedShop(tx, deps, newShopOf(body), cause, {
        settings: settingsOf(body),
        isSuspended,
        plan,
        afterwards: async () => {
          if (owner === undefined) return;
          const ownerId = await staff.inviteOwner(tx, shopId, { email: owner, by: cause.appName });
          await recordChange(tx, shopId, 'SHOP_OWNER_ADDED', cause, { ownerId });
        },
      }),
    );
    afterCommit(() => refresh(shopId));
    return shopView(tx, shopId, origin);
  });

  api.read(listHostShops, async ({ db, query, origin }) => {
    const { state, plan = null, q = '', createdAfter, createdBefore, after = '', limit } = query;
    const found = await findHostedShops(
      db,
      {
        after,
        states: state === undefined ? SHOP_STATES : [state],
        plan,
        search: q,
        createdAfter: parseMoment(createdAfter ?? EARLIEST, 'createdAfter'),
        createdBefore: parseMoment(createdBefore ?? LATEST, 'createdBefore'),
      },
      // One more than fits, to detect a next page.
      limit + 1,
    );
    const shops = found.slice(0, limit);
    const goodTimes = await findGoodTimes(
      db,
      shops.map(({ shopId }) => shopId),
    );
    const backupAt = new Map(goodTimes.map(({ shop, goodAt }) => [shop, goodAt]));
    return {
      items: shops.map((shop) => toShop(shop, origin, backupAt.get(shop.shopId))),
      next: found.length > limit ? shops.at(-1)!.shopId : null,
    };
  });

  api.read(getHostShop, ({ db, shopId, origin }) => shopView(db, shopId, origin));

  api.write(setHostShopName, async ({ tx, shopId, body, caller, origin }) => {
    await withSettingsRefused('SHOP_SETTINGS_INVALID', () =>
      renameShop(tx, deps, shopId, body.name, causeOf(caller, setHostShopName)),
    );
    return shopView(tx, shopId, origin);
  });

  api.write(setHostShopPlan, async ({ tx, shopId, body, caller, origin, afterCommit }) => {
    await setPlan(tx, deps.config, shopId, body.plan, causeOf(caller, setHostShopPlan));
    afterCommit(() => api.callers.invalidate(shopId));
    return shopView(tx, shopId, origin);
  });

  for (const { declared, run } of ACTIONS) {
    api.write(declared, async ({ tx, shopId, caller, origin, afterCommit }) => {
      await run(tx, shopId, causeOf(caller, declared));
      afterCommit(() => refresh(shopId));
      return shopView(tx, shopId, origin);
    });
  }

  api.write(deleteHostShop, async ({ tx, shopId, query, caller, origin, afterCommit }) => {
    await planDeletion(tx, shopId, causeOf(caller, deleteHostShop), query.days);
    afterCommit(() => refresh(shopId));
    return shopView(tx, shopId, origin);
  });
}

/** What the schema can't say is checked here. */
function newShopOf(body: Static<(typeof createHostShop)['body'] & object>) {
  const { shopId, name, email: address, country, languages, currencies } = body;
  if (!isCountry(country)) throw invalid('UNKNOWN_VALUE', 'country');
  const currency = currencies?.[0] ?? currencyOf(country) ?? 'EUR';
  if (!isCurrency(currency)) throw invalid('UNKNOWN_VALUE', 'currencies');
  const locale = languages?.[0] ?? localeOf(country);
  if (languages?.some((language) => !isCountry(language.slice(3)))) {
    throw invalid('UNKNOWN_VALUE', 'languages');
  }
  if (!isEmailAddress(address)) throw invalid('WRONG_FORMAT', 'email');
  return { shopId, name, email: address, country, locale, currency };
}

/** Further languages are settings like others; those of the document win. */
function settingsOf({
  languages = [],
  settings,
}: {
  languages?: readonly string[];
  settings?: Record<string, unknown>;
}): SettingsFile | undefined {
  const [first] = languages;
  if (languages.length <= 1) return settings;
  return { locales: { default: first!, items: [...new Set(languages)] }, ...settings };
}

function toShop(shop: HostedShop, origin: string, backupAt: Date | null | undefined): Static<typeof Shop> {
  const { createdAt, suspendedAt, deletionAt, shopId } = shop;
  return {
    ...shop,
    createdAt: createdAt.toISOString(),
    suspendedAt: suspendedAt?.toISOString() ?? null,
    deletionAt: deletionAt?.toISOString() ?? null,
    backupAt: backupAt?.toISOString() ?? null,
    adminUrl: `${origin}/admin/shops/${shopId}`,
  };
}
