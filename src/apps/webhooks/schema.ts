import { Type, type Static } from 'typebox';
import { toMilliseconds, toSeconds } from '../../http/dates.ts';
import { Id, Links, Nullable, Timestamp } from '../../http/schemas.ts';
import { EVENT_TYPE_CHOICE, EVENT_TYPE_NAMES, type EventType } from '../../platform/events/types.ts';
import { deliveryIdOf, messageIdOf } from './delivery-id.ts';
import type { DeliveryRow, WebhookRow } from './queries.ts';

const active = Type.Boolean({ description: 'Whether it is called.', examples: [true] });
const eventType = {
  ...EVENT_TYPE_CHOICE,
  description: 'The events that it is called for.',
  examples: ['ORDER_CREATE'],
};
const callbackUrl = {
  description: 'The address that is called: https, on port 443 or one above 1023.',
  examples: ['https://erp.example/hooks/orders'],
};

const fields = {
  active,
  eventType: Type.Unsafe<EventType>({ type: 'string', ...eventType }),
  callbackUrl: Type.String(callbackUrl),
  createdOn: Timestamp,
  updatedOn: Timestamp,
  links: Links,
};

export const Webhook = Type.Object({ webhookId: Id, ...fields }, { title: 'webhook' });

const secret = Type.String({
  description:
    'Signs what is sent, as the Standard Webhooks specification says. It is shown this once; a new one can be made.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

const includeFields = Type.Boolean({
  description:
    'Whether each call has `fields` beside `entity`: the custom fields of what the event is about that the app may read, and of an order also `deliveryOption`.',
  examples: [true],
});

export const WebhookWithSecret = Type.Object(
  { webhookId: Id, ...fields, includeFields, secret },
  { title: 'created webhook' },
);

export const NewSecret = Type.Object(
  {
    secret,
    formerSecretUntil: Nullable({
      ...Timestamp,
      description: 'Until then the former secret signs as well; null: there was none.',
    }),
  },
  { title: 'webhookSecret' },
);

/** A paging style that only this list has. */
export const WebhookList = Type.Object(
  {
    links: Links,
    content: Type.Array(Type.Object({ id: Id, ...fields }, { title: 'webhook summary' }), {
      description: 'The webhooks of this page.',
    }),
    page: Type.Object(
      {
        size: Type.Integer({ description: 'The page size in force.', examples: [20] }),
        totalElements: Type.Integer({ description: 'Webhooks over all pages.', examples: [1] }),
        totalPages: Type.Integer({ description: 'Number of pages.', examples: [1] }),
        number: Type.Integer({ description: 'The page shown, from 0.', examples: [0] }),
      },
      { title: 'page position', description: 'Where this page stands.' },
    ),
  },
  { title: 'webhook list' },
);

const newFields = {
  callbackUrl: Type.String({ ...callbackUrl, pattern: '^https?://[^\\s"<>\\\\]+$', maxLength: 2000 }),
  eventType: Type.Enum(EVENT_TYPE_NAMES, eventType),
  active: Type.Optional({ ...active, description: 'Whether it is called at once; absent: it is.' }),
};

export const NewWebhook = Type.Object(newFields, { title: 'webhook (create request)' });

export const NewManagedWebhook = Type.Object(
  { ...newFields, includeFields: Type.Optional(includeFields) },
  { title: 'managed webhook (create request)' },
);

export const ActiveForm = Type.Object(
  {
    active: Type.Unsafe<boolean | 'true' | 'false'>({
      // A form sends only texts.
      enum: ['true', 'false', true, false],
      description: 'true: it is called, and goes on where it stopped. false: events wait.',
      examples: ['true'],
    }),
  },
  { title: 'webhook activation' },
);

export const WEBHOOK_DELIVERY_STATES = ['delivered', 'waiting', 'failed'] as const;

const moment = (description: string) => Nullable({ ...Timestamp, description });

const attempt = {
  statusCode: Nullable(Type.Integer({ description: "The receiver's answer; null: none.", examples: [200] })),
  milliseconds: Nullable(Type.Integer({ description: 'How long the last call took.', examples: [84] })),
  answer: Nullable(Type.String({ description: 'The first kilobyte of its answer.', examples: ['ok'] })),
  error: Nullable(
    Type.String({
      description: 'Why the last call failed; null: it did not.',
      examples: ['The receiver answered 500'],
    }),
  ),
};

export const WebhookDelivery = Type.Object(
  {
    deliveryId: Id,
    messageId: Type.String({
      description: 'The header `webhook-id` of all its calls.',
      examples: ['evt_5c1d3a0e9b7f4c2d8a6e000000001267'],
    }),
    position: Type.Integer({ description: 'The position of the event in the log.', examples: [4711] }),
    resourceId: Nullable({ ...Id, description: 'The resource of the event; null: the shop itself.' }),
    status: Type.String({
      description: 'waiting: it is tried again, or waits for an earlier event of its resource.',
      enum: [...WEBHOOK_DELIVERY_STATES],
      examples: ['delivered'],
    }),
    attempts: Type.Integer({ description: 'Calls so far, since it was sent again by hand.', examples: [1] }),
    ...attempt,
    createdOn: { ...Timestamp, description: 'When the event happened.' },
    triedOn: moment('When the receiver was called last.'),
    deliveredOn: moment('When the receiver accepted it.'),
    nextTryOn: moment('When it is tried again; null: not by itself, or after an earlier event.'),
  },
  { title: 'webhookDelivery' },
);

export const WebhookDeliveryList = Type.Object(
  {
    items: Type.Array(WebhookDelivery, { description: 'The deliveries, newest first.' }),
    next: Nullable(
      Type.Integer({
        description: 'Send it as `before` to read on; null: there are no more.',
        examples: [4711],
      }),
    ),
  },
  { title: 'webhook delivery list' },
);

export const TestResult = Type.Object(
  {
    isDelivered: Type.Boolean({ description: 'Whether the receiver accepted it.', examples: [true] }),
    ...attempt,
  },
  { title: 'webhookTest' },
);

type Link = (path: string) => string;

/** The response to the creation shows milliseconds, all others do not: the contract says so. */
export function toWebhook(
  row: WebhookRow,
  link: Link,
  toMoment: (date: Date) => string = toSeconds,
): Static<typeof Webhook> {
  const { webhookId } = row;
  return { webhookId, ...fieldsOf(row, link, toMoment) };
}

export const toNewWebhook = (row: WebhookRow, link: Link) => toWebhook(row, link, toMilliseconds);

export function toListedWebhook(row: WebhookRow, link: Link) {
  return { id: row.webhookId, ...fieldsOf(row, link, toSeconds) };
}

function fieldsOf(row: WebhookRow, link: Link, toMoment: (date: Date) => string) {
  return {
    active: row.active,
    eventType: row.eventType,
    callbackUrl: row.callbackUrl,
    createdOn: toMoment(row.createdAt),
    updatedOn: toMoment(row.updatedAt),
    links: [{ rel: 'self', href: link(`/webhooks/${row.webhookId}`) }],
  };
}

export function toWebhookDelivery(
  shopId: string,
  webhookId: string,
  row: DeliveryRow,
): Static<typeof WebhookDelivery> {
  const deliveryId = deliveryIdOf(shopId, webhookId, row.position);
  const shown = (date: Date | null) => date && toMilliseconds(date);
  return {
    deliveryId,
    messageId: messageIdOf(deliveryId),
    position: row.position,
    resourceId: row.resourceId,
    status: row.status,
    attempts: row.attempts,
    statusCode: row.statusCode,
    milliseconds: row.milliseconds,
    answer: row.answer,
    error: row.error,
    createdOn: toMilliseconds(row.createdAt),
    triedOn: shown(row.triedAt),
    deliveredOn: shown(row.deliveredAt),
    nextTryOn: shown(row.nextTryAt),
  };
}
