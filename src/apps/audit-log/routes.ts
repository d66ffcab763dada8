import { Type } from 'typebox';
import { parseMoment } from '../../http/dates.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Nullable, Paged, Timestamp } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { countAuditEntries, findAuditEntries } from './queries.ts';
import { toEntry } from './render.ts';

const AuditEntry = Type.Object(
  {
    entryId: Id,
    at: { ...Timestamp, examples: ['2026-11-15T08:30:00.000Z'] },
    app: Nullable(
      Type.Object(
        { appId: Id, name: Type.String({ description: 'Its name at that time.', examples: ['stock-sync'] }) },
        {
          title: 'app name',
          description: 'The app that did it; null: the command line, or a customer in the storefront.',
        },
      ),
    ),
    method: Type.String({
      description: 'POST, PUT, PATCH or DELETE; GET of an export; COMMAND on the command line.',
      examples: ['PATCH'],
    }),
    route: Type.String({
      description: 'The path with names for its ids, or the command.',
      examples: ['/rs/shops/:shopId/products/:productId'],
    }),
    object: Type.Record(Type.String(), Type.String(), {
      description: 'The affected resource: the ids in the path, and the id of a created resource.',
      examples: [{ productId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E' }],
    }),
  },
  { title: 'audit entry' },
);

const { parameters, pageOf } = paging();
const moment = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-01T00:00:00Z'] }));

const listAuditEntries = operation({
  under: 'manage',
  method: 'GET',
  path: '/audit',
  name: 'listAuditEntries',
  summary: 'List audit entries',
  description:
    'Every write that used a scope, every token that was issued and every person that was exported, newest first: ' +
    'app, time, route and ids, but never the body. Changes that shoppers make to carts are not included. Entries are kept for 400 days. The scope is the one for changing orders.',
  tag: 'audit',
  labels: [],
  access: 'orders_write',
  query: Type.Object({
    ...parameters,
    createdAfter: moment('Only entries after this moment.'),
    createdBefore: moment('Only entries before this moment.'),
    appId: Type.Optional({ ...Id, description: 'Only what this app did.' }),
    method: Type.Optional(
      Type.String({ description: 'Only this method, in any case.', examples: ['DELETE'] }),
    ),
  }),
  answer: Paged(AuditEntry, 'audit entry list'),
});

export function audit(api: Operations): void {
  api.read(listAuditEntries, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const { createdAfter, createdBefore, appId, method } = query;
    if (appId && !isId(appId)) return paged(page, 0, []);
    const filter = {
      after: createdAfter === undefined ? null : parseMoment(createdAfter, 'createdAfter'),
      before: createdBefore === undefined ? null : parseMoment(createdBefore, 'createdBefore'),
      appId: appId || null,
      method: method?.toUpperCase() || null,
    };
    const [results, rows] = await Promise.all([
      countAuditEntries(db, shopId, filter),
      findAuditEntries(db, shopId, filter, page.resultsPerPage, page.offset),
    ]);
    return paged(page, results, rows.map(toEntry));
  });
}
