import {
  EVENT_TYPES,
  EVENT_TYPE_NAMES,
  type EventResource,
  type EventType,
} from '../../platform/events/types.ts';
import { ENTITY_FIELDS } from './entity-fields.ts';
import { CONTRACT_TYPES } from './render.ts';

/** The components of the reference that describe the subjects of events. */
const ENTITY_SCHEMAS: Partial<Record<EventResource, string>> = {
  order: 'Order',
  product: 'Product',
  customer: 'Customer',
  'coupon campaign': 'CouponCampaign',
  shop: 'ShopInfo',
};

/** The section `webhooks` of the OpenAPI document: the call that a receiver gets, for each type of event. */
export function webhookReference() {
  return Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, { post: callOf(type) }]));
}

function callOf(type: EventType) {
  const { summary, scope } = EVENT_TYPES[type];
  return {
    operationId: `on${type
      .toLowerCase()
      .split('_')
      .map((word) => word[0]!.toUpperCase() + word.slice(1))
      .join('')}`,
    summary,
    description:
      `Sent to the webhooks of this type, which need ${scope === null ? 'a token' : `the scope ${scope}`}. Calls are ` +
      'repeated until they are answered with 2xx, so the same event may come twice: it has the same `webhook-id` then. ' +
      'The entity is read in the moment of the call.',
    tags: ['webhooks'],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: bodyOf(type) } } },
    responses: {
      '2XX': { description: 'It was accepted; the body of the answer does not matter.' },
      default: { description: 'It is sent again: after a minute for the first time, then ever later.' },
    },
  };
}

function bodyOf(type: EventType) {
  const { resource } = EVENT_TYPES[type];
  const component = ENTITY_SCHEMAS[resource];
  const isGone = type.endsWith('_DELETE');
  const hasData = !CONTRACT_TYPES.has(type);
  const empty = { type: 'object', maxProperties: 0, examples: [{}] };
  const properties = {
    id: text('Id of the webhook.', '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'),
    baseUrl: text('Address of the shop in the API.', 'https://shop.example/rs/shops/DemoShop'),
    entityUrl: text(
      'Address of what the event is about.',
      'https://shop.example/rs/shops/DemoShop/orders/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E',
    ),
    createdOn: text('When it happened.', '2026-11-15T08:30:00Z'),
    eventType: { ...text('What happened.', type), const: type },
    entity: {
      description:
        'The resource of the event, as its GET returns it; empty when it no longer exists or is not public.',
      ...(component === undefined || isGone
        ? empty
        : { anyOf: [{ $ref: `#/components/schemas/${component}` }, empty] }),
    },
    ...(ENTITY_FIELDS[resource] && {
      fields: {
        type: 'array',
        description:
          'Custom fields of the entity that the app may read; only where the webhook includes them.',
        items: { $ref: '#/components/schemas/ShownCustomField' },
        examples: [
          [{ namespace: 'care', key: 'washing', name: 'Washing', type: 'text', value: 'Cold wash' }],
        ],
      },
    }),
    ...(resource === 'order' && {
      deliveryOption: {
        description:
          'The delivery of an app that was chosen for the order; null: none. Only where the webhook includes fields.',
        anyOf: [{ $ref: '#/components/schemas/OrderDeliveryOption' }, { type: 'null' }],
        examples: [null],
      },
    }),
    ...(hasData && { data: { type: 'object', description: 'What changed.', examples: [{}] } }),
  };
  const required = Object.keys(properties).filter((name) => !['fields', 'deliveryOption'].includes(name));
  return { type: 'object', required, properties };
}

function text(description: string, example: string) {
  return { type: 'string', description, examples: [example] };
}

const HEADERS = [
  header('webhook-id', 'The same for every attempt of this event.', 'evt_5c1d3a0e9b7f4c2d8a6e000000001267'),
  header('webhook-timestamp', 'Seconds since 1970, when the call was made.', '1763195400'),
  header(
    'webhook-signature',
    'Standard Webhooks: check it with the library of your language and the secret of the webhook.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header(
    'X-Epages-Hmac-Sha256',
    "Base64 of the HMAC-SHA256 of the body, with the app's client secret; a private app's with the webhook's secret.",
    'K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

function header(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}
