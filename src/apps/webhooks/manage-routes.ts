import { Type } from 'typebox';
import { notFound, Refusal, retryAfter } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { toMilliseconds } from '../../http/dates.ts';
import { Id } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { findAppById } from '../queries.ts';
import { seal } from '../../platform/sealing.ts';
import { redeliverOne, replayFrom } from './actions.ts';
import { registerWebhook } from './create.ts';
import { openSecrets } from './deliver.ts';
import { messageIdOf } from './delivery-id.ts';
import { findWebhookDeliveries, findWebhook, lockWebhook, updateSecret } from './queries.ts';
import { callbackBody } from './render.ts';
import { constraints, params, type WebhookDeps } from './routes.ts';
import {
  WebhookDelivery,
  WEBHOOK_DELIVERY_STATES,
  WebhookDeliveryList,
  NewSecret,
  NewManagedWebhook,
  TestResult,
  toWebhookDelivery,
  toNewWebhook,
  toWebhook,
  Webhook,
  WebhookWithSecret,
} from './schema.ts';
import { createSender } from './sending.ts';
import { newWebhookSecret, signatureHeaders } from './signature.ts';

const shared = { under: 'manage', tag: 'webhooks', labels: [], access: 'any token' } as const;

/** Milliseconds for which both secrets sign after a rotation. */
const BOTH_FOR = 86_400_000;
/** Concurrent test calls, in all and of one shop: each may take 10 s. */
const MAX_TESTS = 20;
const MAX_TESTS_OF_SHOP = 2;

const createWebhookWithSecret = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks',
  name: 'createWebhookWithSecret',
  summary: 'Create webhook',
  description:
    'Like createWebhook, but the answer shows the secret of the webhook, this once. It can be called with custom fields.',
  body: NewManagedWebhook,
  status: 201,
  answer: WebhookWithSecret,
  secretAnswer: 'sealed',
  constraints,
});

const rotateWebhookSecret = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks/:webhookId/secret',
  name: 'rotateWebhookSecret',
  summary: 'Rotate webhook secret',
  description:
    'Makes a new secret and shows it, this once. For 24 hours calls are signed with both: `webhook-signature` ' +
    'then holds two signatures.',
  params,
  answer: NewSecret,
  secretAnswer: 'sealed',
});

const listWebhookDeliveries = operation({
  ...shared,
  method: 'GET',
  path: '/webhooks/:webhookId/deliveries',
  name: 'listWebhookDeliveries',
  summary: 'List webhook deliveries',
  description: 'The deliveries of each event, newest first. Deliveries are stored as long as their events.',
  params,
  query: Type.Object({
    status: Type.Optional(
      Type.String({
        enum: [...WEBHOOK_DELIVERY_STATES],
        description: 'Only these.',
        examples: ['failed'],
      }),
    ),
    before: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      default: Number.MAX_SAFE_INTEGER,
      description: 'Only deliveries of events before this position.',
      examples: [4711],
    }),
    limit: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'The most deliveries of one answer.',
      examples: [20],
    }),
  }),
  answer: WebhookDeliveryList,
});

const redeliverWebhook = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks/:webhookId/deliveries/:deliveryId/redeliver',
  name: 'redeliverWebhook',
  summary: 'Redeliver',
  description: 'Sends one delivery again, with the same `webhook-id`, also when it was delivered before.',
  params: Type.Object({ webhookId: Id, deliveryId: Id }),
  answer: WebhookDelivery,
});

export const replayWebhook = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks/:webhookId/replay',
  name: 'replayWebhook',
  summary: 'Replay webhook',
  description:
    'Sends the event at a position and all after it again, each with the `webhook-id` it had. Undelivered events are never skipped. 410: the log no longer has the position; the answer names the oldest one left.',
  params,
  body: Type.Object(
    {
      from: Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The position of the first event to send.',
        examples: [4711],
      }),
    },
    { title: 'webhook (replay request)' },
  ),
  answer: Webhook,
});

const testWebhook = operation({
  ...shared,
  method: 'POST',
  path: '/webhooks/:webhookId/test',
  name: 'testWebhook',
  summary: 'Test webhook',
  description:
    'Calls the receiver with an example, signed like all calls, and returns its answer. The entity of the ' +
    'example is empty, and `data` is `{"test": true}`.',
  params,
  answer: TestResult,
});

/** Operations of apps on their webhooks beyond the contract. */
export function managedWebhooks(api: Operations, { policy, loadKey }: WebhookDeps): void {
  api.write(createWebhookWithSecret, async (call) => {
    const { webhook, secret } = await registerWebhook(call, {
      policy,
      key: await loadKey(),
      includesFields: call.body.includeFields,
    });
    call.created({ webhookId: webhook.webhookId });
    call.header('cache-control', 'no-store');
    return { ...toNewWebhook(webhook, call.link), includeFields: webhook.includesFields, secret };
  });

  api.write(rotateWebhookSecret, async ({ tx, shopId, params: { webhookId }, caller, header }) => {
    const key = await loadKey();
    const webhook = await lockWebhook(tx, shopId, caller.app!.appId, webhookId);
    if (!webhook) throw notFound();
    const secret = newWebhookSecret();
    const formerSecretUntil = webhook.secretSealed && new Date(tx.serviceNow.getTime() + BOTH_FOR);
    await updateSecret(tx, shopId, webhookId, {
      secretSealed: seal(key, secret),
      formerSecretSealed: webhook.secretSealed,
      formerSecretUntil,
    });
    header('cache-control', 'no-store');
    return { secret, formerSecretUntil: formerSecretUntil && toMilliseconds(formerSecretUntil) };
  });

  api.read(
    listWebhookDeliveries,
    async ({ db, shopId, params: { webhookId }, query: { before, limit, status }, caller }) => {
      if (!(await findWebhook(db, shopId, caller.app!.appId, webhookId))) throw notFound();
      const rows = await findWebhookDeliveries(db, shopId, webhookId, {
        before,
        limit,
        status: WEBHOOK_DELIVERY_STATES.find((state) => state === status) ?? 'any',
      });
      return {
        items: rows.map((row) => toWebhookDelivery(shopId, webhookId, row)),
        next: rows.length === limit ? rows.at(-1)!.position : null,
      };
    },
  );

  api.write(redeliverWebhook, async ({ tx, shopId, params: { webhookId, deliveryId }, caller }) => {
    const webhook = await lockWebhook(tx, shopId, caller.app!.appId, webhookId);
    if (!webhook) throw notFound();
    return toWebhookDelivery(shopId, webhookId, await redeliverOne(tx, shopId, webhook, deliveryId));
  });

  api.write(replayWebhook, async ({ tx, shopId, params: { webhookId }, body: { from }, caller, link }) => {
    const webhook = await lockWebhook(tx, shopId, caller.app!.appId, webhookId);
    if (!webhook) throw notFound();
    await replayFrom(tx, shopId, webhook, from);
    return toWebhook(webhook, link);
  });

  const sender = createSender(policy);
  const testsOf = new Map<string, number>();
  let tests = 0;

  api.read(testWebhook, async ({ db, shopId, params: { webhookId }, caller, origin }) => {
    const { appId } = caller.app!;
    const [webhook, app] = await Promise.all([
      findWebhook(db, shopId, appId, webhookId),
      findAppById(db, shopId, appId),
    ]);
    if (!webhook) throw notFound();
    if (!webhook.secretSealed) {
      throw new Refusal('WEBHOOK_SECRET_MISSING');
    }
    const ofShop = testsOf.get(shopId) ?? 0;
    if (tests >= MAX_TESTS || ofShop >= MAX_TESTS_OF_SHOP) {
      throw new Refusal('TOO_MANY_WEBHOOK_TESTS', {}, retryAfter(10));
    }
    tests++;
    testsOf.set(shopId, ofShop + 1);
    try {
      const { serviceNow: now } = db;
      const event = { type: webhook.eventType, resourceId: newId(now), at: now, data: { test: true } };
      const body = callbackBody(event, {
        shopId,
        webhookId,
        origin,
        entity: undefined,
        fields: webhook.includesFields ? [] : undefined,
        isTest: true,
      });
      const secrets = openSecrets(await loadKey(), webhook, app, now);
      const messageId = messageIdOf(newId(now));
      const headers = signatureHeaders(secrets, { messageId, at: now, body });
      return (await sender.send(webhook.callbackUrl, headers, body))!;
    } finally {
      tests--;
      const left = testsOf.get(shopId)! - 1;
      if (left === 0) testsOf.delete(shopId);
      else testsOf.set(shopId, left);
    }
  });
}
