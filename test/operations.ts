import { authorise, createApp } from '../src/apps/apps.ts';
import { sql, type Sql } from '../src/db/sql.ts';
import type { Label } from '../src/http/operation.ts';
import type { Scope } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/ids.ts';
import type { CallOptions, Service } from './service.ts';

/**
 * Every operation of the API in one table, written from the contract and not from the code. The sweeps of this
 * folder go over it, and fail when the service has an operation that is missing here.
 */

/** A shop, seen by the app that holds the token. */
export interface Shop {
  service: Service;
  shopId: string;
  token: string;
}

/** Something a valid call needs, made or looked up in the shop just before it. */
type Fact<Value> = (shop: Shop) => Value | Promise<Value>;

export interface Operation {
  /** `GET /customers/{customerId}`; paths are below /rs/shops/{shopId}. */
  name: string;
  method: string;
  path: string;
  scope: Scope | 'public';
  labels: readonly Label[];
  status: 200 | 201 | 204;
  writes: boolean;
  /** The answer holds a secret, so it is not kept for an Idempotency-Key. */
  secret: boolean;
  /** The query parameters it knows. */
  query: readonly string[];
  /** The query that a valid call can't do without. */
  search: string;
  params: Readonly<Record<string, Fact<string>>>;
  /** A body with every key that there is. */
  body: Fact<unknown> | undefined;
  /** A form; JSON with the same keys is taken as well. */
  form: boolean;
  /** The shape of the body. */
  request: string;
  /** For JSON Patch: the shape of `value` by path. */
  patch: Readonly<Record<string, string>>;
  /** The shape of the answer; '' for an empty one. */
  answer: string;
}

type Facts = Partial<Omit<Operation, 'name' | 'method' | 'path' | 'scope'>>;

function operation(name: string, scope: Scope | 'public', facts: Facts): Operation {
  const [method, path] = name.split(' ') as [string, string];
  return {
    name,
    method,
    path: path === '/' ? '' : path,
    scope,
    labels: ['Base', 'Now'],
    status: 200,
    writes: method !== 'GET',
    secret: false,
    query: [],
    search: '',
    params: {},
    body: undefined,
    form: false,
    request: '',
    patch: {},
    answer: '',
    ...facts,
  };
}

/*
 * Shapes: one line per key, `key.path: type|type`. `[]` stands for the entries of a list, `?` behind a key means
 * that it may be missing. The lines of an object stand in the order of its keys on the wire.
 */

function shape(...parts: string[]): string {
  const lines = parts.flatMap((part) => part.split('\n')).map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function under(place: string, inner: string): string {
  return inner.replaceAll(/^/gm, `${place}.`);
}

const links = 'links: array\nlinks[].rel: string\nlinks[].href: string';

const price = 'taxType: string\nformatted: string\namount: number\ncurrency: string';

const paged = (item: string) =>
  shape('results: integer\npage: integer\nresultsPerPage: integer\nitems: array', under('items[]', item));

const list = (item: string) => under('[]', item);

const words = (text: string) => text.trim().split(/\s+/);

const ADDRESS_KEYS = words(`
  company salutation firstName lastName street streetDetails zipCode city state country title vatId birthday
  emailAddress addressExtension bankAccountHolder bankAccountNumber bankName bankSortCode businessEmailAddress
  businessPhoneNumber department displayName doorCode faxNumber fiscalCode gender jobTitle middleName
  mobilePhoneNumber phoneNumber privateEmailAddress privatePhoneNumber websiteUrl`);

const address = ADDRESS_KEYS.map((key) => `${key}: string|null`).join('\n');

const addressRequest = ADDRESS_KEYS.map((key) =>
  key === 'zipCode' ? 'zipCode?: string|number|null' : `${key}?: string|null`,
).join('\n');

const fullAddress = {
  ...Object.fromEntries(ADDRESS_KEYS.map((key) => [key, `A ${key}`])),
  country: 'DE',
  birthday: '1990-12-31',
  emailAddress: 'someone@mail.example',
  gender: 'FEMALE',
};

const shopInfo = `
  name: string
  email: string
  slogan: string|null
  logoUrl: string|null
  sfUrl: string
  mboUrl: string
  isInEU: boolean
  countryCode2: string`;

const country = shape(`
  nativeName: string
  countryIsDefault: integer
  code3: string
  code2: string
  englishName: string
  countryIsEU: integer
  countryID: string`);

const codes = 'default: string\nitems: array\nitems[]: string';

const customer = shape(
  'customerId: string\ncustomerNumber: string\ncreationDate: string\nbillingAddress: object|null',
  under('billingAddress', address),
  'internalNote: string|null',
  links,
);

const page = 'name\ntitle?\nnavigationCaption\nshortDescription?\ndescription'.replaceAll(/$/gm, ': string');

const contact = shape(`
  name: string
  title: string
  navigationCaption: string
  shortDescription: string
  description: string
  company: string
  contactPerson: string
  contactPersonJobTitle: string
  address: string
  phone: string
  email: string`);

const summary = shape(
  ...words(`
    contactInformation privacyPolicy termsAndConditions rightsOfWithdrawal shippingInformation
    cookiePolicy`).map((key) => `${key}: object|null\n${key}.name: string`),
  links,
);

const campaign = shape(`
  campaignId: string
  language: string
  identifier: string
  name: string
  description: string|null
  numberOfSubscribers: integer
  subject: string|null`);

const scriptTag = shape(
  'scriptTagId: string\nscriptUrl: string\nscriptType: string\ncreatedOn: string\nupdatedOn: string',
  links,
);

const shippingMethod = shape(
  'shippingMethodId: string\nname: string\ndescription: string|null\nlogo: string|null\nprice: object|null',
  under('price', price),
);

const taxClass = shape('taxClassId: string\nname: string', links);

const taxClasses = shape(
  paged(taxClass),
  'defaultTaxClass: object',
  under('defaultTaxClass', taxClass),
  'defaultTaxClassDigital: object',
  under('defaultTaxClassDigital', taxClass),
);

const taxModel = `
  model: string
  displayTaxes: boolean
  noTaxesMessage: string|null
  deliveryThresholdIsActive: boolean
  countryCode2: string`;

const PAGING = ['page', 'resultsPerPage'];

/** The id that a statement finds in the shop. */
const idOf =
  (select: (shopId: string) => Sql): Fact<string> =>
  async ({ service, shopId }) =>
    (await service.db.one<{ id: string }>(select(shopId)))!.id.toUpperCase();

const customerId = idOf(
  (shopId) =>
    sql`select customer_id as id from customer where shop_id = ${shopId} order by created_at limit 1`,
);
const campaignId = idOf(
  (shopId) =>
    sql`select campaign_id as id from newsletter_campaign where shop_id = ${shopId} order by position limit 1`,
);
const shippingMethodId = idOf(
  (shopId) =>
    sql`select shipping_method_id as id from shipping_method where shop_id = ${shopId} order by position limit 1`,
);
const taxClassId = idOf(
  (shopId) =>
    sql`select tax_class_id as id from tax_class where shop_id = ${shopId} order by position limit 1`,
);

/** A script tag that the calling app may delete. */
const ownScriptTag: Fact<string> = async ({ service: { db }, shopId, token }) => {
  const scriptTagId = newId(db.now);
  await db.run(sql`
    insert into script_tag (shop_id, script_tag_id, app_id, script_url, created_at, updated_at)
    select shop_id, ${scriptTagId}, app_id, 'https://cdn.example/passing.js', ${db.now}, ${db.now}
    from token where shop_id = ${shopId} and token_hash = ${secretHash(token)}`);
  return scriptTagId;
};

/** What an app sends that a merchant has just agreed to install. */
const installation: Fact<unknown> = ({ service, shopId }) =>
  service.db.transaction(async (tx) => {
    const key = Buffer.alloc(32);
    const { clientId, clientSecret } = await createApp(tx, key, shopId, {
      name: `Install ${newSecret(24)}`,
      callbackUrl: 'https://app.example/install',
      scopes: ['products_read'],
    });
    const callback = await authorise(tx, key, shopId, clientId, `https://shop.example/rs/shops/${shopId}`);
    const code = new URL(callback).searchParams.get('code');
    return { code, client_id: clientId, client_secret: clientSecret };
  });

/** A number that nobody has. */
const freeNumber = () => `T-${newSecret(24)}`;

const legalPages = words(`
  contact-information privacy-policy terms-and-conditions rights-of-withdrawal shipping-information
  cookie-policy`).flatMap((name) => {
  const answer = name === 'contact-information' ? contact : page;
  const keys = answer.split('\n').map((line) => line.split(/[?:]/)[0]!);
  const labels: readonly Label[] = name === 'cookie-policy' ? ['Now'] : ['Base', 'Now'];
  return [
    operation(`GET /legal/${name}`, 'legal_read', { labels, query: ['locale'], answer }),
    operation(`PUT /legal/${name}`, 'legal_write', {
      labels,
      query: ['locale'],
      search: 'locale=en_GB',
      body: () => Object.fromEntries(keys.map((key) => [key, `<p>A ${key}</p>`])),
      request: keys.map((key) => `${key}?: string|null`).join('\n'),
      answer: keys.map((key) => `${key}: string`).join('\n'),
    }),
  ];
});

export const OPERATIONS: readonly Operation[] = [
  operation('GET /', 'products_read', { query: ['locale'], answer: shape(shopInfo) }),
  operation('GET /countries', 'public', { answer: list(country) }),
  operation('GET /currencies', 'products_read', { answer: codes }),
  operation('GET /locales', 'products_read', { answer: codes }),

  operation('GET /customers', 'customers_read', { query: PAGING, answer: paged(customer) }),
  operation('POST /customers', 'customers_write', {
    status: 201,
    body: () => ({
      customerNumber: freeNumber(),
      internalNote: 'asks for a receipt',
      billingAddress: fullAddress,
    }),
    request: shape(
      'customerNumber?: string|null\ninternalNote?: string|null\nbillingAddress: object',
      under('billingAddress', addressRequest),
    ),
    answer: customer,
  }),
  operation('GET /customers/{customerId}', 'customers_read', { params: { customerId }, answer: customer }),
  operation('PATCH /customers/{customerId}', 'customers_write', {
    params: { customerId },
    body: () => [
      { op: 'add', path: '/customerNumber', value: freeNumber() },
      { op: 'add', path: '/billingAddress', value: fullAddress },
      { op: 'add', path: '/internalNote', value: 'asks for a receipt' },
    ],
    request: '[].op: string\n[].path: string\n[].value?: string|number|boolean|object|array|null',
    patch: {
      '/customerNumber': 'value: string',
      '/billingAddress': shape('value: object|null', under('value', addressRequest)),
      '/internalNote': 'value: string|null',
    },
    answer: customer,
  }),

  operation('GET /legal', 'legal_read', { query: ['locale'], answer: summary }),
  ...legalPages,

  operation('GET /newsletter-campaigns', 'newsletters_read', {
    labels: ['Base'],
    query: PAGING,
    answer: paged(campaign),
  }),
  operation('GET /newsletter-campaigns/{campaignId}/subscribers', 'newsletters_read', {
    labels: ['Base'],
    query: PAGING,
    params: { campaignId },
    answer: paged('email: string\nname: string\nsubscribed: boolean'),
  }),

  operation('GET /script-tags', 'scripttags_read', {
    labels: ['Now'],
    query: ['myScriptTagsOnly'],
    answer: shape('items: array', under('items[]', scriptTag)),
  }),
  operation('POST /script-tags', 'scripttags_write', {
    labels: ['Now'],
    status: 201,
    body: () => ({ scriptUrl: 'https://cdn.example/hello.js' }),
    request: 'scriptUrl: string',
    answer: scriptTag,
  }),
  operation('DELETE /script-tags/{scriptTagId}', 'scripttags_write', {
    labels: ['Now'],
    status: 204,
    params: { scriptTagId: ownScriptTag },
  }),

  operation('GET /shipping-methods', 'products_read', { query: ['locale'], answer: list(shippingMethod) }),
  operation('GET /shipping-methods/{shippingMethodId}', 'products_read', {
    query: ['locale'],
    params: { shippingMethodId },
    answer: shippingMethod,
  }),

  operation('GET /tax-classes', 'products_read', { query: ['locale', ...PAGING], answer: taxClasses }),
  operation('GET /tax-classes/{taxClassId}', 'products_read', {
    query: ['locale'],
    params: { taxClassId },
    answer: taxClass,
  }),
  operation('GET /tax-model', 'products_read', { answer: shape(taxModel) }),

  operation('POST /token', 'public', {
    labels: [],
    secret: true,
    body: installation,
    form: true,
    request: 'code: string\nclient_id: string\nclient_secret: string',
    answer: 'access_token: string',
  }),
];

/** The paths, each with its methods in the order of the Allow header. */
export function methodsByPath(): Map<string, string[]> {
  const order = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const found = new Map<string, string[]>();
  for (const { method, path } of OPERATIONS) {
    const methods = [...(found.get(path) ?? []), method, ...(method === 'GET' ? ['HEAD'] : [])];
    found.set(
      path,
      methods.toSorted((left, right) => order.indexOf(left) - order.indexOf(right)),
    );
  }
  return found;
}

export interface ValidCall {
  method: string;
  /** For `service.call`, without the query. */
  path: string;
  /** `?locale=en_GB`, or nothing. */
  search: string;
  options: CallOptions;
}

/** A call that succeeds in this shop; with `idsFrom`, one that names another shop's things. */
export async function validCall(
  { method, path, search, params, body, form }: Operation,
  shop: Shop,
  idsFrom: Shop = shop,
): Promise<ValidCall> {
  let filled = path;
  for (const [name, fact] of Object.entries(params))
    filled = filled.replace(`{${name}}`, await fact(idsFrom));
  const sent = await body?.(shop);
  return {
    method,
    path: `/${shop.shopId}${filled}`,
    search: search === '' ? '' : `?${search}`,
    options: {
      token: shop.token,
      ...(sent === undefined
        ? {}
        : form
          ? {
              body: new URLSearchParams(sent as Record<string, string>).toString(),
              headers: { 'content-type': 'application/x-www-form-urlencoded' },
            }
          : { body: sent }),
    },
  };
}

export interface ShapeLine {
  /** `items[].name` */
  path: string;
  types: string[];
  optional: boolean;
}

export function shapeLines(text: string): ShapeLine[] {
  return text.split('\n').map((line) => {
    const [, path, mark, types] = /^(.+?)(\??): ([a-z|]+)$/.exec(line)!;
    return { path: path!, types: types!.split('|'), optional: mark === '?' };
  });
}

/** The JSON types of a value: a whole number is an integer and a number. */
export function typesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

/**
 * What is wrong with an answer: keys that the shape does not list, other types, missing keys, another order. A
 * path that never occurs is a problem too, so that nothing passes because a list was empty.
 */
export function shapeProblems(answer: unknown, text: string): string[] {
  const lines = shapeLines(text);
  const problems: string[] = [];
  const seen = new Set<string>();
  const childrenOf = (place: string) =>
    lines.flatMap((line) => {
      const key = line.path.startsWith(place) ? line.path.slice(place.length).replace(/^\./, '') : '';
      return /^[^.[\]]+$/.test(key) && (place === '' || line.path[place.length] === '.')
        ? [{ ...line, key }]
        : [];
    });

  const visit = (value: unknown, place: string): void => {
    seen.add(place);
    if (Array.isArray(value)) {
      const entry = lines.find(({ path }) => path === `${place}[]`);
      for (const one of value) {
        if (!typesOf(one).some((type) => (entry?.types ?? ['object']).includes(type))) {
          problems.push(`${place}[] is ${typesOf(one)[0]}`);
        } else visit(one, `${place}[]`);
      }
    } else if (typeof value === 'object' && value !== null) {
      const known = childrenOf(place);
      const order = known.filter(({ key }) => key in value).map(({ key }) => key);
      const found = Object.keys(value);
      const unknown = found.filter((key) => !order.includes(key));
      problems.push(...unknown.map((key) => `${place}.${key} is not in the contract`));
      if (unknown.length === 0 && found.join() !== order.join()) {
        problems.push(`${place} has the order ${found.join()}`);
      }
      for (const { key, path, types, optional } of known) {
        const inner = (value as Record<string, unknown>)[key];
        if (!(key in value)) {
          if (!optional) problems.push(`${path} is missing`);
        } else if (typesOf(inner).some((type) => types.includes(type))) visit(inner, path);
        else problems.push(`${path} is ${typesOf(inner)[0]}, not ${types.join('|')}`);
      }
    }
  };

  if (Array.isArray(answer) !== text.startsWith('[]')) problems.push('the answer is a list or an object');
  visit(answer, '');
  const never = lines.filter(({ path, optional }) => !optional && !seen.has(path));
  problems.push(...never.map(({ path }) => `${path} never occurs`));
  return [...new Set(problems)];
}
