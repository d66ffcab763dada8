import { Type, type Static } from 'typebox';
import type { Database, Transaction } from '../../db/database.ts';
import { toMilliseconds } from '../../http/dates.ts';
import { Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { runCleanupOfShop, type CleanupStep } from '../../platform/cleanup.ts';
import { shopSettings, type Sandbox } from '../settings/settings.ts';
import { momentAfter, parseDuration } from './duration.ts';
import { findSandboxEmails, lockSandbox, MAX_EMAILS, updateClock } from './queries.ts';

/** Milliseconds by which a clock may be ahead in all: ten years. The table has the same bound. */
const MAX_AHEAD = 3_654 * 86_400_000;

const shared = { under: 'manage', tag: 'sandbox', labels: [] } as const;

const Clock = Type.Object(
  {
    now: { ...Timestamp, description: 'The time of the shop.', examples: ['2026-12-15T08:30:00.000Z'] },
    aheadSeconds: Type.Integer({
      description: 'Seconds by which this is ahead of the clock of the service; 0 in a shop of its own.',
      examples: [2_592_000],
    }),
    sandboxOf: Nullable(
      Type.String({
        description: 'The shop that it is a sandbox of; null: it is a shop of its own.',
        examples: ['DemoShop'],
      }),
    ),
  },
  { title: 'clock' },
);

export const getClock = operation({
  ...shared,
  method: 'GET',
  path: '/clock',
  name: 'getClock',
  summary: 'Get clock',
  description:
    'The time by which the shop lives. Only that of a sandbox differs from the time of the service.',
  access: 'orders_read',
  answer: Clock,
});

export const advanceClock = operation({
  ...shared,
  method: 'POST',
  path: '/clock',
  name: 'advanceClock',
  summary: 'Advance clock',
  description:
    'Moves the clock of a sandbox forward; it never goes back. What is due by then has happened when the call returns: orders that were not paid in time are cancelled, carts are abandoned or have expired, days and months are counted. 409 NOT_A_SANDBOX: the shop is no sandbox. 409 CLOCK_TOO_FAR: it would be more than ten years ahead.',
  access: 'orders_write',
  body: Type.Object({
    advance: Type.String({
      maxLength: 40,
      description:
        'How far: a duration of ISO 8601 (`PT1H`, `P15D`, `P1M`), or a number with s, min, h, d, w, mo or y.',
      examples: ['15d'],
    }),
  }),
  answer: Clock,
});

export const listSandboxEmails = operation({
  ...shared,
  method: 'GET',
  path: '/sandbox-emails',
  name: 'listSandboxEmails',
  summary: 'List sandbox emails',
  description: `The last ${MAX_EMAILS} emails of a sandbox, which sends none; the newest first. A shop of its own sends them, and has none here.`,
  access: { allOf: ['orders_read', 'customers_read'] },
  answer: Type.Object(
    {
      items: Type.Array(
        Type.Object(
          {
            emailId: Id,
            at: { ...Timestamp, examples: ['2026-12-15T08:30:00.000Z'] },
            kind: Type.String({
              description: 'Its name in settings files.',
              examples: ['orderConfirmation'],
            }),
            to: Type.String({ description: 'The recipient.', examples: ['ada@mail.example'] }),
            subject: Type.String({ examples: ['Your order 1001'], description: 'The subject.' }),
            text: Type.String({
              description: 'The email as text, with its links.',
              examples: ['Thank you for your order.'],
            }),
            attachments: Type.Array(Type.String({ examples: ['invoice-1001.pdf'] }), {
              description: 'Names of the attached files.',
            }),
          },
          { title: 'sandbox email' },
        ),
        { description: 'The emails.' },
      ),
    },
    { title: 'sandbox emails' },
  ),
});

/** Takes what waits for a time so much earlier. */
type BringForward = (tx: Transaction, shopId: string, milliseconds: number) => Promise<unknown>;

/** `steps`: what is done in the background, of which a sandbox does its part as soon as its clock was advanced. */
export function sandboxOperations(
  api: Operations,
  {
    db,
    steps,
    bringForward,
    refreshClocks,
  }: {
    db: Database;
    steps: readonly CleanupStep[];
    bringForward: readonly BringForward[];
    refreshClocks: () => Promise<void>;
  },
): void {
  api.read(getClock, async ({ db: shopDb, shopId }) => {
    const { sandbox } = await shopSettings(shopDb, shopId);
    return toClock(shopDb.serviceNow, sandbox);
  });

  api.write(advanceClock, async ({ tx, shopId, body, afterCommit }) => {
    const sandbox = await advance(tx, shopId, body.advance, bringForward);
    afterCommit(async () => {
      await refreshClocks();
      await runCleanupOfShop(db, steps, shopId);
    });
    return toClock(tx.serviceNow, sandbox);
  });

  api.read(listSandboxEmails, async ({ db: shopDb, shopId }) => {
    const rows = await findSandboxEmails(shopDb, shopId);
    return {
      items: rows.map(({ at, recipient: to, body: text, ...email }) => ({
        ...email,
        at: toMilliseconds(at),
        to,
        text,
      })),
    };
  });
}

/** Moves the clock, and with it what waits in queues, which run by the clock of the service. */
async function advance(
  tx: Transaction,
  shopId: string,
  text: string,
  bringForward: readonly BringForward[],
): Promise<Sandbox> {
  const sandbox = await lockSandbox(tx, shopId);
  if (!sandbox) throw new Refusal('NOT_A_SANDBOX');
  const duration = parseDuration(text);
  if (!duration) throw new Refusal('DURATION_MALFORMED');
  const now = new Date(tx.serviceNow.getTime() + sandbox.clock);
  const step = momentAfter(now, duration).getTime() - now.getTime();
  const clock = sandbox.clock + step;
  // A date too far away for a clock is not a number.
  if (!(clock <= MAX_AHEAD)) throw new Refusal('CLOCK_TOO_FAR');
  await updateClock(tx, shopId, clock);
  for (const bring of bringForward) await bring(tx, shopId, step);
  return { ...sandbox, clock };
}

function toClock(serviceNow: Date, sandbox: Sandbox | null): Static<typeof Clock> {
  const ahead = sandbox?.clock ?? 0;
  return {
    now: toMilliseconds(new Date(serviceNow.getTime() + ahead)),
    aheadSeconds: Math.round(ahead / 1_000),
    sandboxOf: sandbox?.of ?? null,
  };
}
