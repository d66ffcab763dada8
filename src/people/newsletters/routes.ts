import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Nullable, Paged } from '../../http/schemas.ts';
import {
  countNewsletterCampaigns,
  countSubscribers,
  findNewsletterCampaigns,
  findSubscribers,
} from './queries.ts';

const Campaign = Type.Object(
  {
    campaignId: Id,
    language: Type.String({ description: 'Two letters, ISO 639-1.', examples: ['en'] }),
    identifier: Type.String({ description: 'Short name, unique in the shop.', examples: ['TideLetter_EN'] }),
    name: Type.String({ description: 'Name of the newsletter.', examples: ['Tide letter'] }),
    description: Nullable(
      Type.String({
        description: 'The content of the newsletter.',
        examples: ['News from the harbour, once a month'],
      }),
    ),
    numberOfSubscribers: Type.Integer({
      description: 'Number of current subscribers.',
      examples: [12],
    }),
    subject: Nullable(Type.String({ description: 'Subject of the emails.', examples: ['What is new'] })),
  },
  { title: 'newsletterCampaign' },
);

const Subscriber = Type.Object(
  {
    email: Type.String({ description: 'Email address.', examples: ['ada@pelican.example'] }),
    name: Type.String({ description: 'Name of the person.', examples: ['Ada Brennan'] }),
    subscribed: Type.Boolean({ description: 'false: has unsubscribed.', examples: [true] }),
  },
  { title: 'newsletterSubscriber' },
);

const { parameters, pageOf } = paging();
const shared = { tag: 'newsletters', labels: ['Base'], access: 'newsletters_read' } as const;

export const listNewsletterCampaigns = operation({
  ...shared,
  method: 'GET',
  path: '/newsletter-campaigns',
  name: 'listNewsletterCampaigns',
  summary: 'List newsletter campaigns',
  query: Type.Object(parameters),
  answer: Paged(Campaign, 'newsletter campaign list'),
});

export const listNewsletterSubscribers = operation({
  ...shared,
  method: 'GET',
  path: '/newsletter-campaigns/:campaignId/subscribers',
  name: 'listNewsletterSubscribers',
  summary: 'List newsletter subscribers',
  description: 'Oldest first. Unsubscribed addresses stay in the list, with subscribed false.',
  params: Type.Object({ campaignId: Id }),
  query: Type.Object(parameters),
  answer: Paged(Subscriber, 'newsletter subscriber list'),
});

export function newsletterOperations(api: Operations): void {
  api.read(listNewsletterCampaigns, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const [results, rows] = await Promise.all([
      countNewsletterCampaigns(db, shopId),
      findNewsletterCampaigns(db, shopId, page.resultsPerPage, page.offset),
    ]);
    return paged(
      page,
      results,
      rows.map((row) => ({ ...row, campaignId: row.campaignId.toUpperCase() })),
    );
  });

  api.read(listNewsletterSubscribers, async ({ db, shopId, params, query }) => {
    const page = pageOf(query);
    const [results, rows] = await Promise.all([
      countSubscribers(db, shopId, params.campaignId),
      findSubscribers(db, shopId, params.campaignId, page.resultsPerPage, page.offset),
    ]);
    if (results === undefined) throw notFound();
    return paged(page, results, rows);
  });
}
