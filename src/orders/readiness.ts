import { Type } from 'typebox';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { findLegalStates } from '../shops/legal/queries.ts';
import { nearLimits } from '../platform/plans/limits.ts';
import { LIMITS } from '../platform/plans/plans.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { lockShop } from '../shops/settings/writes.ts';
import { updateOpening } from '../shops/shop/queries.ts';
import { readinessOf, READINESS_STEPS, type Readiness, type StepKey } from '../shops/shop/readiness.ts';
import type { PaymentDeps } from './payments/calls.ts';
import { findPaymentGaps } from './payments/payment-data.ts';

/** Why a shop needs each step. */
export const STEP_REASONS: Readonly<Record<StepKey, string>> = {
  address:
    'The law requires the name and the postal address of the seller on the pages and on every invoice.',
  taxNumber:
    'An invoice must state the VAT ID or the tax number of the seller; small businesses need one too.',
  bankAccount:
    'Customers must be able to pay: by transfer to your bank account, or with a payment provider. A method without its data is not offered.',
  delivery: 'Customers see before they order how the goods are delivered, and at what price.',
  legalTexts: 'A text that is still a draft is not shown and not sent. Complete it and have it checked.',
  firstProduct: 'A shop without products has nothing to sell.',
  testOrder: 'Order something yourself, to see what your customers see and receive.',
};

const href = (description: string) =>
  Type.String({
    description,
    examples: ['https://shop.example/admin/shops/DemoShop/settings/invoices#field-invoicing.street'],
  });

const ReadinessView = Type.Object(
  {
    ready: Type.Boolean({
      description: 'All required steps are done: the shop may open.',
      examples: [false],
    }),
    open: Type.Boolean({
      description: 'The pages of the shop are public. Before that, they say that the shop opens soon.',
      examples: [false],
    }),
    steps: Type.Array(
      Type.Object(
        {
          key: Type.Enum([...READINESS_STEPS], { description: 'Name of the step.', examples: ['address'] }),
          required: Type.Boolean({
            description: 'false: it is recommended, and the shop may open without it.',
            examples: [true],
          }),
          done: Type.Boolean({ description: 'Nothing is missing.', examples: [false] }),
          reason: Type.String({ description: 'Why a shop needs it.', examples: [STEP_REASONS.address] }),
          missing: Type.Array(
            Type.Object(
              {
                field: Type.String({
                  description: 'Name of the setting, or of the legal page.',
                  examples: ['invoicing.street'],
                }),
                href: href('The field in the admin.'),
              },
              { title: 'missing setting' },
            ),
            { description: 'The missing settings; empty when the step is done.' },
          ),
          href: href('The page of the admin for this step.'),
        },
        { title: 'readiness step' },
      ),
      { description: 'The steps in the order in which they are done.' },
    ),
    plan: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the plan.', examples: ['small'] }),
          limits: Type.Array(
            Type.Object(
              {
                name: Type.Enum([...LIMITS], { description: 'Name of the limit.', examples: ['products'] }),
                used: Type.Number({ description: 'How much of it is used.', examples: [812] }),
                limit: Type.Number({ description: 'How much the plan has room for.', examples: [1000] }),
              },
              { title: 'nearly used limit' },
            ),
            { description: 'The limits that are nearly or fully used.' },
          ),
        },
        {
          title: 'nearly used plan',
          description:
            'Only where four fifths or more of a limit of the plan are used. What exists stays; what goes beyond it is refused, until the operator of the installation gives the shop a larger plan.',
        },
      ),
    ),
  },
  { title: 'readiness' },
);

export const getReadiness = operation({
  under: 'manage',
  method: 'GET',
  path: '/readiness',
  name: 'getReadiness',
  summary: 'Get readiness',
  description: 'What a new shop still needs before it sells, and where in the admin it is set.',
  tag: 'shop',
  labels: [],
  access: 'orders_read',
  answer: ReadinessView,
});

type ReadinessDeps = Pick<PaymentDeps, 'providers' | 'loadKey'>;

export function readiness(api: Operations, deps: ReadinessDeps): void {
  api.read(getReadiness, async ({ db, shopId, origin }) => {
    const settings = await shopSettings(db, shopId);
    const [{ ready, steps }, near] = await Promise.all([
      loadReadiness(db, settings, deps),
      nearLimits({ db, config: api.config }, shopId),
    ]);
    const admin = `${origin}/admin/shops/${shopId}`;
    return {
      ready,
      open: settings.isOpen,
      steps: steps.map(({ key, required, done, missing, path }) => ({
        key,
        required,
        done,
        reason: STEP_REASONS[key],
        missing: missing.map(({ field, path: place }) => ({ field, href: admin + place })),
        href: admin + path,
      })),
      ...(near.limits.length > 0 && { plan: { name: near.plan, limits: near.limits } }),
    };
  });
}

export async function loadReadiness(
  db: Queries,
  settings: Settings,
  deps: ReadinessDeps,
): Promise<Readiness> {
  const { shopId } = settings;
  const [legalTexts, gaps, content] = await Promise.all([
    findLegalStates(db, shopId),
    findPaymentGaps(db, settings, deps),
    findContent(db, shopId),
  ]);
  const payments = gaps.map(({ method, missing }) => ({ key: method.key, missing }));
  return readinessOf({ settings, legalTexts, payments, ...content });
}

/** Opens the pages of a shop to the public. A shop that is not ready is refused, and one that is open stays open. */
export async function openShop(tx: Transaction, shopId: string, deps: ReadinessDeps): Promise<void> {
  await lockShop(tx, shopId);
  const settings = await shopSettings(tx, shopId);
  if (settings.isOpen) return;
  const { ready, steps } = await loadReadiness(tx, settings, deps);
  if (!ready) {
    const open = steps.filter(({ required, done }) => required && !done).map(({ key }) => key);
    throw new Refusal('SHOP_NOT_READY', { steps: open });
  }
  await updateOpening(tx, shopId, true);
}

/** In the order of the keys, so that the first entry of the index is read even where nearly all rows are of this shop. */
async function findContent(db: Queries, shopId: string) {
  const row = await db.one<{ hasProduct: boolean; hasOrder: boolean }>(sql`
    select coalesce((
        select true from product where shop_id = ${shopId} order by product_id limit 1
      ), false) as "hasProduct", coalesce((
        select true from customer_order where shop_id = ${shopId} order by order_id limit 1
      ), false) as "hasOrder"`);
  return row!;
}
