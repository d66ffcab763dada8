import { Type, type Static, type TSchema } from 'typebox';
import { toSeconds } from '../../http/dates.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { addressKey, MAX_SOURCE_LENGTH } from './address.ts';
import {
  countIn,
  countMissed,
  countRedirects,
  deleteMissed,
  deleteRedirectRows,
  findMissed,
  findRedirect,
  findRedirects,
  insertRedirects,
  TARGET_KINDS,
  updateRedirectRow,
  type ListedRedirect,
  type TargetKind,
} from './queries.ts';
import { domainsOf, redirectRefusal } from './refusals.ts';
import { MAX_TARGET_LENGTH, saveRedirects, type GivenRedirect } from './save.ts';

const SOURCE = {
  description:
    'The former address in the shop: its path, with parameters where they matter. Upper and lower case, percent signs and a slash at the end make no difference.',
  examples: ['/teapots/blue-teapot.html'],
};
const TARGET = {
  description:
    'The number of the product, the alias of the category, the path of the page, or the address; null when it is gone.',
  examples: ['TE-100'],
};

const Kind = Type.Unsafe<TargetKind | null>({
  type: ['string', 'null'],
  enum: [...TARGET_KINDS, null],
  description:
    'Where it leads: to a product, a category or a page of its own, whose address may change later, or to an address. null when it is gone.',
  examples: ['product'],
});

export const RedirectRequest = Type.Object(
  {
    source: Type.String({ ...SOURCE, minLength: 1, maxLength: MAX_SOURCE_LENGTH }),
    status: Type.Unsafe<301 | 410>({
      type: 'integer',
      enum: [301, 410],
      description: '301: the page has moved for good; 410: it is gone for good.',
      examples: [301],
    }),
    kind: Type.Optional(Kind),
    target: Type.Optional(Nullable(Type.String({ ...TARGET, minLength: 1, maxLength: MAX_TARGET_LENGTH }))),
  },
  { title: 'redirect (request)' },
);

const RedirectAnswer = Type.Object(
  {
    redirectId: Id,
    source: Type.String(SOURCE),
    status: Type.Integer({ description: '301 or 410.', examples: [301] }),
    kind: Kind,
    target: Nullable(Type.String(TARGET)),
    origin: Type.Unsafe<ListedRedirect['origin']>({
      type: 'string',
      enum: ['manual', 'moved', 'imported'],
      description: 'manual; moved: an address of the shop has changed; imported: from another shop.',
      examples: ['manual'],
    }),
    creationDate: Timestamp,
  },
  { title: 'redirect' },
);

const MissedAddressAnswer = Type.Object(
  {
    address: Type.String({
      description: 'The address as redirects are compared with it: decoded, in lower case.',
      examples: ['/teapots/old-teapot.html'],
    }),
    hits: Type.Integer({
      description: 'How often visitors asked for it in the last 30 days.',
      examples: [12],
    }),
    lastDay: Type.String({
      description: 'The last day on which it was asked for.',
      examples: ['2026-11-18'],
    }),
    referrers: Type.Array(Type.String({ examples: ['https://blog.example/tea'] }), {
      description: 'Up to three pages with a link to it, without their parameters.',
    }),
  },
  { title: 'missed address' },
);

const { parameters, pageOf } = paging({ standard: 50, maximum: 500 });

const shared = {
  under: 'manage',
  tag: 'redirects',
  labels: [],
  access: 'products_write',
  constraints: { redirect_source: () => new Refusal('REDIRECT_SOURCE_TAKEN') },
} as const;
const params = Type.Object({ redirectId: Id });

const listOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object(
    {
      results: Type.Integer({ description: 'Number of all.', examples: [1] }),
      page: Type.Integer({ description: 'The page.', examples: [1] }),
      resultsPerPage: Type.Integer({ description: 'Page size.', examples: [50] }),
      items: Type.Array(item, { description: 'Of this page.' }),
    },
    { title },
  );

export const listRedirects = operation({
  ...shared,
  method: 'GET',
  path: '/redirects',
  name: 'listRedirects',
  summary: 'List redirects',
  description: 'The former addresses of the shop, by address.',
  query: Type.Object({
    ...parameters,
    source: Type.Optional(
      Type.String({
        maxLength: MAX_SOURCE_LENGTH,
        description: 'Only addresses that begin with this.',
        examples: ['/teapots'],
      }),
    ),
  }),
  answer: listOf(RedirectAnswer, 'redirects'),
});

export const getRedirect = operation({
  ...shared,
  method: 'GET',
  path: '/redirects/:redirectId',
  name: 'getRedirect',
  summary: 'Get redirect',
  params,
  answer: RedirectAnswer,
});

export const createRedirect = operation({
  ...shared,
  method: 'POST',
  path: '/redirects',
  name: 'createRedirect',
  summary: 'Create redirect',
  description:
    'Visitors of the address are sent on where no page of the shop has this address. A redirect to another redirect is refused.',
  body: RedirectRequest,
  status: 201,
  answer: RedirectAnswer,
});

export const updateRedirect = operation({
  ...shared,
  method: 'PUT',
  path: '/redirects/:redirectId',
  name: 'updateRedirect',
  summary: 'Update redirect',
  description: 'Replaces the address and where it leads.',
  params,
  body: RedirectRequest,
  answer: RedirectAnswer,
});

export const deleteRedirect = operation({
  ...shared,
  method: 'DELETE',
  path: '/redirects/:redirectId',
  name: 'deleteRedirect',
  summary: 'Delete redirect',
  params,
  status: 204,
});

export const listMissedAddresses = operation({
  ...shared,
  method: 'GET',
  path: '/missed-addresses',
  name: 'listMissedAddresses',
  summary: 'List missed addresses',
  description:
    'Addresses of the shop that visitors asked for in the last 30 days and that no page has, the most frequent first. The counts are written now and then, and leave out programs and very long lists.',
  query: Type.Object(parameters),
  answer: listOf(MissedAddressAnswer, 'missed addresses'),
});

export const dismissMissedAddress = operation({
  ...shared,
  method: 'POST',
  path: '/missed-addresses/dismiss',
  name: 'dismissMissedAddress',
  summary: 'Dismiss missed address',
  description: 'Forgets how often visitors asked for it.',
  body: Type.Object(
    {
      address: Type.String({
        minLength: 1,
        maxLength: 300,
        description: 'As in the list.',
        examples: ['/teapots/old-teapot.html'],
      }),
    },
    { title: 'missed address (request)' },
  ),
  status: 204,
});

export function redirects(api: Operations): void {
  api.read(listRedirects, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const start = comparedStart(query.source);
    const [results, rows] = await Promise.all([
      countRedirects(db, shopId, start),
      findRedirects(db, shopId, { start, limit: page.resultsPerPage, offset: page.offset }),
    ]);
    return paged(page, results, rows.map(toAnswer));
  });

  api.read(getRedirect, async ({ db, shopId, params: { redirectId } }) => {
    const row = await findRedirect(db, shopId, redirectId);
    if (!row) throw notFound();
    return toAnswer(row);
  });

  api.write(createRedirect, async ({ tx, shopId, body, created }) => {
    const given = toGiven(body);
    let redirectId = '';
    const [problem] = await saveRedirects(tx, shopId, [given], {
      origin: 'manual',
      domains: await domainsOf(tx, shopId),
      write: (rows) => {
        redirectId = rows[0]!.redirectId;
        return insertRedirects(tx, shopId, rows);
      },
    });
    if (problem) throw redirectRefusal(given, problem);
    created({ redirectId });
    return toAnswer((await findRedirect(tx, shopId, redirectId))!);
  });

  api.write(updateRedirect, async ({ tx, shopId, params: { redirectId }, body }) => {
    const stored = await findRedirect(tx, shopId, redirectId);
    if (!stored) throw notFound();
    const given = toGiven(body);
    const [problem] = await saveRedirects(tx, shopId, [given], {
      origin: 'manual',
      domains: await domainsOf(tx, shopId),
      changed: stored,
      write: async ([row]) => {
        if ((await updateRedirectRow(tx, shopId, row!)) === 0) throw notFound();
      },
    });
    if (problem) throw redirectRefusal(given, problem);
    return toAnswer((await findRedirect(tx, shopId, redirectId))!);
  });

  api.write(deleteRedirect, async ({ tx, shopId, params: { redirectId } }) => {
    if ((await deleteRedirectRows(tx, shopId, [redirectId])) === 0) throw notFound();
    await countIn(tx, shopId, -1);
  });

  api.read(listMissedAddresses, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const [results, items] = await Promise.all([
      countMissed(db, shopId),
      findMissed(db, shopId, { limit: page.resultsPerPage, offset: page.offset }),
    ]);
    return paged(page, results, items);
  });

  api.write(dismissMissedAddress, async ({ tx, shopId, body: { address } }) => {
    if ((await deleteMissed(tx, shopId, [address])) === 0) throw notFound();
  });
}

/** The beginning of an address as the list compares it. */
export function comparedStart(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return '';
  return addressKey(text)?.path ?? text;
}

const toGiven = ({
  source,
  status,
  kind = null,
  target = null,
}: Static<typeof RedirectRequest>): GivenRedirect => ({ source, status, kind, target });

const toAnswer = ({ redirectId, source, status, kind, target, origin, createdAt }: ListedRedirect) => ({
  redirectId,
  source,
  status,
  kind,
  target,
  origin,
  creationDate: toSeconds(createdAt),
});
