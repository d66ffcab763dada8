import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { deleteApp } from '../apps.ts';
import { sql } from '../../db/sql.ts';
import { scriptType } from './script-type.ts';

let service: Service;
let token: string;
let otherApp: string;

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Alpha');
  await givenShop(service, 'Beta');
  token = await givenToken(service, 'Alpha');
  otherApp = await givenToken(service, 'Alpha');
});

afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(undefined);
  await service.db.run(sql`delete from script_tag where shop_id = any (${['Alpha', 'Beta']})`);
});

const script = 'https://widgets.example/social.js?id=123ab';

const create = (scriptUrl: unknown, caller = token) =>
  service.call('POST', '/Alpha/script-tags', { token: caller, body: { scriptUrl } });

const urls = async (query = '', caller = token) => {
  const { status, body } = await service.call('GET', `/Alpha/script-tags${query}`, { token: caller });
  expect(status).toBe(200);
  return (body as { items: { scriptUrl: string }[] }).items.map((item) => item.scriptUrl);
};

describe('creating', () => {
  test('answers 201 with the tag, exactly as the contract shows it', async () => {
    service.setClock(new Date('2017-02-21T14:30:15.678Z'));
    const { status, body } = await create(script);
    expect(status).toBe(201);
    expect(body).toEqual({
      scriptTagId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
      scriptUrl: script,
      scriptType: 'NORMAL',
      createdOn: '2017-02-21T14:30:15Z',
      updatedOn: '2017-02-21T14:30:15Z',
      links: [{ rel: 'self', href: `http://localhost:80/rs/shops/Alpha/script-tags/${body.scriptTagId}` }],
    });
    const list = await service.call('GET', '/Alpha/script-tags', { token });
    expect(list.body).toEqual({ items: [body] });
  });

  test.each([
    ['http://widgets.example/a.js', 'WRONG_FORMAT on field scriptUrl'],
    ['HTTPS://widgets.example/a.js', 'WRONG_FORMAT on field scriptUrl'],
    [' https://widgets.example/a.js', 'WRONG_FORMAT on field scriptUrl'],
    ['//widgets.example/a.js', 'WRONG_FORMAT on field scriptUrl'],
    ['javascript:alert(1)//https://', 'WRONG_FORMAT on field scriptUrl'],
    ['https://', 'WRONG_FORMAT on field scriptUrl'],
    ['https:///widgets.example/a.js', 'WRONG_FORMAT on field scriptUrl'],
    ['https://widgets.example:99999/a.js', 'WRONG_FORMAT on field scriptUrl'],
    ['https://widgets.example/a b.js', 'WRONG_FORMAT on field scriptUrl'],
    ['https://widgets.example/a.js\n', 'WRONG_FORMAT on field scriptUrl'],
    ['https://widgets.example/"><script>', 'WRONG_FORMAT on field scriptUrl'],
    ['', 'WRONG_FORMAT on field scriptUrl'],
    [`https://widgets.example/${'a'.repeat(1977)}`, 'TOO_LONG on field scriptUrl'],
    [null, 'WRONG_TYPE on field scriptUrl'],
    [7, 'WRONG_TYPE on field scriptUrl'],
    [[script], 'WRONG_TYPE on field scriptUrl'],
    [undefined, 'MISSING on field scriptUrl'],
  ])('refuses %j', async (scriptUrl, problem) => {
    const { status, body } = await create(scriptUrl);
    expect(status).toBe(400);
    expect(body).toEqual({
      message: `Create script tag failed:\n\tvalidation error ${problem}, Request: POST /rs/shops/Alpha/script-tags`,
      status: 'Bad Request',
    });
    expect(await urls()).toEqual([]);
  });

  test('takes the longest address', async () => {
    const longest = `https://widgets.example/${'a'.repeat(1976)}`;
    expect(longest).toHaveLength(2000);
    expect((await create(longest)).status).toBe(201);
    expect(await urls()).toEqual([longest]);
  });

  test('a missing body is refused', async () => {
    const { status } = await service.call('POST', '/Alpha/script-tags', { token });
    expect(status).toBe(400);
  });

  test('the reading scope does not write, and the writing scope does not read', async () => {
    const reader = await givenToken(service, 'Alpha', ['scripttags_read']);
    const writer = await givenToken(service, 'Alpha', ['scripttags_write']);
    expect((await create(script, reader)).status).toBe(403);
    expect((await create(script, writer)).status).toBe(201);
    expect((await service.call('GET', '/Alpha/script-tags', { token: writer })).status).toBe(403);
    expect(await urls('', reader)).toEqual([script]);
  });

  test('an app that was uninstalled by another process a moment ago is refused', async () => {
    const leaving = await givenToken(service, 'Alpha', ['scripttags_write'], 'leaving');
    expect((await create(script, leaving)).status).toBe(201);
    await service.db.transaction((tx) => deleteApp(tx, 'Alpha', 'leaving'));
    const { status, headers } = await create(script, leaving);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
    expect(await urls()).toEqual([]);
  });
});

test.each([
  ['https://a.example/widget.js', 'NORMAL'],
  ['https://a.example/worker.js', 'SERVICE_WORKER'],
  ['https://a.example/push/service-worker.js', 'SERVICE_WORKER'],
  ['https://a.example/worker.js?v=2', 'NORMAL'],
  ['https://a.example/worker.js?', 'NORMAL'],
  ['https://a.example/worker.js#x', 'NORMAL'],
  ['https://a.example/worker.js/widget', 'NORMAL'],
  ['https://a.example/Worker.JS', 'NORMAL'],
  ['https://a.example/load?name=worker.js', 'SERVICE_WORKER'],
])('%s is %s', (scriptUrl, type) => {
  expect(scriptType(scriptUrl)).toBe(type);
});

describe('listing', () => {
  test('is empty at first', async () => {
    const { body } = await service.call('GET', '/Alpha/script-tags', { token });
    expect(body).toEqual({ items: [] });
  });

  test('shows all tags of the shop, oldest first, or those of the calling app', async () => {
    const created = [
      ['https://a.example/2.js', '2026-01-02T00:00:00Z', token],
      ['https://a.example/3.js', '2026-01-03T00:00:00Z', otherApp],
      ['https://a.example/1-worker.js', '2026-01-01T00:00:00Z', token],
    ] as const;
    for (const [scriptUrl, moment, caller] of created) {
      service.setClock(new Date(moment));
      expect((await create(scriptUrl, caller)).status).toBe(201);
    }
    const all = ['https://a.example/1-worker.js', 'https://a.example/2.js', 'https://a.example/3.js'];
    expect(await urls()).toEqual(all);
    expect(await urls('?myScriptTagsOnly=false', otherApp)).toEqual(all);
    expect(await urls('?myScriptTagsOnly=true')).toEqual(all.slice(0, 2));
    expect(await urls('?myScriptTagsOnly=true', otherApp)).toEqual(all.slice(2));
    const { body } = await service.call('GET', '/Alpha/script-tags', { token });
    expect(body.items[0].scriptType).toBe('SERVICE_WORKER');
  });

  test('a value that is no boolean is refused', async () => {
    const { status, body } = await service.call('GET', '/Alpha/script-tags?myScriptTagsOnly=mine', { token });
    expect(status).toBe(400);
    expect(body.message).toContain('WRONG_TYPE on field myScriptTagsOnly');
  });

  test("shows nothing of another shop, and anybody's look is refused", async () => {
    await create(script);
    const beta = await givenToken(service, 'Beta');
    expect((await service.call('GET', '/Beta/script-tags', { token: beta })).body).toEqual({ items: [] });
    expect((await service.call('GET', '/Alpha/script-tags')).status).toBe(401);
  });
});

describe('deleting', () => {
  const remove = (path: string, caller = token) => service.call('DELETE', path, { token: caller });

  test('by the app that created it: 204 without a body, then 404', async () => {
    const { scriptTagId } = (await create(script)).body;
    const { status, text } = await remove(`/Alpha/script-tags/${scriptTagId.toLowerCase()}`);
    expect([status, text]).toEqual([204, '']);
    expect(await urls()).toEqual([]);
    expect((await remove(`/Alpha/script-tags/${scriptTagId}`)).status).toBe(404);
  });

  test('by another app of the shop: 403, and it stays', async () => {
    const { scriptTagId } = (await create(script)).body;
    const { status, body } = await remove(`/Alpha/script-tags/${scriptTagId}`, otherApp);
    expect(status).toBe(403);
    expect(body.message).toContain('This script tag belongs to another app');
    expect(await urls()).toEqual([script]);
  });

  test('from another shop: it does not exist there', async () => {
    const { scriptTagId } = (await create(script)).body;
    const beta = await givenToken(service, 'Beta');
    expect((await remove(`/Beta/script-tags/${scriptTagId}`, beta)).status).toBe(404);
    expect(await urls()).toEqual([script]);
  });

  test.each(['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E', 'unknown'])('an unknown id %s: 404', async (id) => {
    expect((await remove(`/Alpha/script-tags/${id}`)).status).toBe(404);
  });
});
