import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { statementsOf } from '../../../test/carts.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';

let service: Service;
let token: string;
let english: string;
let german: string;
let others: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  token = await givenToken(service, 'Harbour', ['newsletters_read']);
  german = await givenCampaign('Harbour', 'TideLetter_DE', 2, { language: 'de', subject: 'Neues' });
  english = await givenCampaign('Harbour', 'TideLetter_EN', 1, { description: 'News' });
  others = await givenCampaign('Other', 'TideLetter_EN', 1);
  // Created in this order; two of them in the same second.
  await givenSubscriber('Harbour', english, 'zoe@mail.example', 1);
  await givenSubscriber('Harbour', english, 'ben@mail.example', 2, { subscribed: false });
  await givenSubscriber('Harbour', english, 'ada@mail.example', 2);
  await givenSubscriber('Harbour', english, 'cleo@mail.example', 3);
  await givenSubscriber('Other', others, 'eve@mail.example', 1);
});
afterAll(() => service.close());

async function givenCampaign(
  shopId: string,
  identifier: string,
  position: number,
  facts: { language?: string; description?: string; subject?: string } = {},
): Promise<string> {
  const campaignId = newId(service.db.now);
  await service.db.run(sql`
    insert into newsletter_campaign
      (shop_id, campaign_id, identifier, language, name, description, subject, position)
    values (${shopId}, ${campaignId}, ${identifier}, ${facts.language ?? 'en'}, ${`Name of ${identifier}`},
      ${facts.description ?? null}, ${facts.subject ?? null}, ${position})`);
  return campaignId;
}

async function givenSubscriber(
  shopId: string,
  campaignId: string,
  email: string,
  day: number,
  { subscribed = true } = {},
): Promise<void> {
  await service.db.run(sql`
    insert into newsletter_subscriber (shop_id, campaign_id, email, name, subscribed, created_at)
    values (${shopId}, ${campaignId}, ${email}, ${`Name of ${email}`}, ${subscribed},
      ${new Date(Date.UTC(2026, 0, day))})`);
}

const get = (path: string) => service.call('GET', `/Harbour/newsletter-campaigns${path}`, { token });
const emails = (answer: { body: { items: { email: string }[] } }) =>
  answer.body.items.map((item) => item.email);

/** How many statements on the newsletters' tables a call sends. */
async function countStatements(path: string): Promise<number> {
  const statements = await statementsOf(() => get(path));
  return statements.filter((text) => text.includes('newsletter_')).length;
}

describe('campaigns', () => {
  test('are listed by position, with those who are subscribed now counted', async () => {
    const { status, text } = await get('');
    expect(status).toBe(200);
    expect(text).toBe(
      JSON.stringify({
        results: 2,
        page: 1,
        resultsPerPage: 10,
        items: [
          {
            campaignId: english,
            language: 'en',
            identifier: 'TideLetter_EN',
            name: 'Name of TideLetter_EN',
            description: 'News',
            numberOfSubscribers: 3,
            subject: null,
          },
          {
            campaignId: german,
            language: 'de',
            identifier: 'TideLetter_DE',
            name: 'Name of TideLetter_DE',
            description: null,
            numberOfSubscribers: 0,
            subject: 'Neues',
          },
        ],
      }),
    );
  });

  test('come in pages', async () => {
    expect((await get('?resultsPerPage=1&page=2')).body).toMatchObject({
      results: 2,
      page: 2,
      resultsPerPage: 1,
      items: [{ identifier: 'TideLetter_DE' }],
    });
    expect((await get('?page=3')).body).toEqual({ results: 2, page: 3, resultsPerPage: 10, items: [] });
    expect((await get('?resultsPerPage=1000')).body.resultsPerPage).toBe(100);
    expect((await get('?page=0')).status).toBe(400);
    expect((await get('?resultsPerPage=many')).status).toBe(400);
  });

  test('of one position are listed by identifier', async () => {
    for (const identifier of ['B', 'C', 'A']) await givenCampaign('Other', identifier, 7);
    const reader = await givenToken(service, 'Other');
    const { body } = await service.call('GET', '/Other/newsletter-campaigns', { token: reader });
    expect(body.items.map((item: { identifier: string }) => item.identifier)).toEqual([
      'TideLetter_EN',
      'A',
      'B',
      'C',
    ]);
  });
});

describe('subscribers', () => {
  test('are listed as they came, and who unsubscribed stays', async () => {
    const { status, text } = await get(`/${english}/subscribers`);
    expect(status).toBe(200);
    const item = (email: string, subscribed = true) => ({ email, name: `Name of ${email}`, subscribed });
    expect(text).toBe(
      JSON.stringify({
        results: 4,
        page: 1,
        resultsPerPage: 10,
        items: [
          item('zoe@mail.example'),
          item('ada@mail.example'),
          item('ben@mail.example', false),
          item('cleo@mail.example'),
        ],
      }),
    );
  });

  test('come in pages without gap or repetition', async () => {
    const first = await get(`/${english}/subscribers?resultsPerPage=3`);
    const second = await get(`/${english}/subscribers?resultsPerPage=3&page=2`);
    expect([...emails(first), ...emails(second)]).toEqual([
      'zoe@mail.example',
      'ada@mail.example',
      'ben@mail.example',
      'cleo@mail.example',
    ]);
    expect(second.body).toMatchObject({ results: 4, page: 2, resultsPerPage: 3 });
    expect((await get(`/${english}/subscribers?page=9`)).body).toEqual({
      results: 4,
      page: 9,
      resultsPerPage: 10,
      items: [],
    });
  });

  test('of a campaign without any are an empty page', async () => {
    expect((await get(`/${german}/subscribers`)).body).toEqual({
      results: 0,
      page: 1,
      resultsPerPage: 10,
      items: [],
    });
  });

  test('are found by an id in lower case', async () => {
    expect((await get(`/${english.toLowerCase()}/subscribers`)).body.results).toBe(4);
  });

  test.each([
    ['an unknown id', () => newId(new Date())],
    ['a malformed id', () => 'TideLetter_EN'],
    ["another shop's id", () => others],
  ])('of %s are not found', async (_, id) => {
    const path = `/${id()}/subscribers`;
    expect(await get(path)).toMatchObject({
      status: 404,
      body: {
        message: `HTTP 404 Not Found, Request: GET /rs/shops/Harbour/newsletter-campaigns${path}`,
        status: 'Not Found',
      },
    });
  });
});

test('the number of statements does not grow with the items', async () => {
  expect(await countStatements('?resultsPerPage=1')).toBe(2);
  expect(await countStatements('')).toBe(2);
  expect(await countStatements(`/${english}/subscribers?resultsPerPage=1`)).toBe(2);
  expect(await countStatements(`/${english}/subscribers`)).toBe(2);
});

test('newsletters are for tokens with their scope, never for the public', async () => {
  const wrong = await givenToken(service, 'Harbour', ['customers_read', 'products_read']);
  for (const path of ['', `/${english}/subscribers`]) {
    const url = `/Harbour/newsletter-campaigns${path}`;
    expect((await service.call('GET', url, { token: wrong })).status).toBe(403);
    expect((await service.call('GET', url)).status).toBe(401);
  }
});
