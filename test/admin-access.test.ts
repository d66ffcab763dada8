import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminRoute } from '../src/admin/routes.ts';
import { permissionsOf, ROLES } from '../src/admin/users/permissions.ts';
import { sql } from '../src/db/sql.ts';
import { givenMerchant, merchantWith, type Merchant } from './admin.ts';
import { fingerprint, givenOtherShop, startDemo } from './demo.ts';
import { isOfToday, someInTurn } from './seed.ts';
import type { Service } from './service.ts';

/** Knocks at every page of the admin: as a stranger, as somebody of another shop, in every role, from another site. */

let service: Service;
let routes: readonly AdminRoute[];
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  // Booking batches are refused without the numbers of the accountant and the client.
  await service.db.run(sql`
    update shop set settings_version = settings_version + 1,
      settings = settings || '{"accounting": {"advisorNumber": 1001, "clientNumber": 1}}'
    where shop_id = 'DemoShop'`);
  routes = (await service.app.adminPages()).filter(({ method }) => method !== 'HEAD');
});
afterAll(() => service.close());

/** Ids that no thing has. */
const pathOf = ({ url }: AdminRoute) =>
  url
    .replace(':shopId', 'DemoShop')
    .replaceAll(/:\w+/g, '00000000-0000-7000-8000-000000000000')
    .replace('*', 'nothing');

const send = (merchant: Merchant, route: AdminRoute) =>
  route.method === 'GET' ? merchant.get(pathOf(route)) : merchant.post(pathOf(route));

/** Pages about the rows that were chosen in a list, which say so when there are none. */
const isOfChosen = ({ url }: AdminRoute) => /\/(?:products\/(?:delete|bulk-edit)|customers\/tags)$/.test(url);

const ofShop = () => routes.filter((route) => 'permission' in route);
const ofNoShop = () => routes.filter((route) => 'audience' in route && route.audience !== 'anybody');

test('there are pages of both kinds', () => {
  expect(ofShop().length).toBeGreaterThan(3);
  expect(ofNoShop().length).toBeGreaterThan(1);
});

test('a stranger is sent to sign in, and nothing is written', async () => {
  const stranger = merchantWith(service, '', 'DemoShop', '');
  const before = await fingerprint(service);
  for (const route of [...ofShop(), ...ofNoShop()]) {
    const { status, location } = await send(stranger, route);
    expect([route.method, route.url, status, location?.split('?')[0]]).toEqual([
      route.method,
      route.url,
      303,
      '/admin/sign-in',
    ]);
  }
  expect(await fingerprint(service)).toEqual(before);
});

test('whoever works in another shop finds none of it here', async () => {
  const neighbour = await givenMerchant(service, 'owner', 'OtherShop');
  const before = await fingerprint(service);
  for (const route of ofShop()) {
    const { status } = await send(neighbour, route);
    expect([route.method, route.url, status]).toEqual([route.method, route.url, 404]);
  }
  expect(await fingerprint(service)).toEqual(before);
});

test('pages of the installation are for whoever runs it', async () => {
  const owner = await givenMerchant(service, 'owner');
  for (const route of ofNoShop()) {
    if (!('audience' in route && route.audience === 'host')) continue;
    expect([route.url, (await send(owner, route)).status]).toEqual([route.url, 404]);
  }
});

describe.each(ROLES)('somebody with the role %s', (role) => {
  test('gets the pages that the role includes, and no others', async () => {
    const merchant = await givenMerchant(service, role);
    const permissions = permissionsOf(role);
    const before = await fingerprint(service);
    for (const route of ofShop()) {
      if (!('permission' in route) || route.permission === 'member') continue;
      if (permissions.has(route.permission)) continue;
      const { status } = await send(merchant, route);
      expect([route.method, route.url, status]).toEqual([route.method, route.url, 403]);
    }
    expect(await fingerprint(service)).toEqual(before);
  });

  test('opens every page that it may, or is told that the thing does not exist', async () => {
    const merchant = await givenMerchant(service, role);
    const permissions = permissionsOf(role);
    for (const [index, route] of ofShop().entries()) {
      if (route.method !== 'GET' || !('permission' in route)) continue;
      // A role that may open a page is shown the same as the owner, but for the menu.
      if (role !== 'owner' && !isOfToday(index + ROLES.indexOf(role), 3)) continue;
      if (route.permission !== 'member' && !permissions.has(route.permission)) continue;
      const { status } = await send(merchant, route);
      const isOfOne = route.url.replace(':shopId', '').includes(':');
      const isOfSandboxes = route.url.endsWith('/sandbox');
      const expected = [
        200,
        303,
        ...(isOfOne || isOfSandboxes ? [404] : []),
        ...(isOfChosen(route) ? [400] : []),
      ];
      expect([route.url, expected]).toEqual([route.url, expect.arrayContaining([status])]);
    }
  });
});

test('a form that another site sends in the name of a merchant is refused', async () => {
  const { cookie } = await givenMerchant(service, 'owner');
  const before = await fingerprint(service);
  const origins = [undefined, 'http://demoshop.localhost:8080', 'https://evil.example', 'null'];
  for (const [index, route] of routes.filter(({ method }) => method === 'POST').entries()) {
    for (const origin of someInTurn(origins, index, 2)) {
      const response = await service.app.inject({
        method: 'POST',
        url: pathOf(route),
        headers: {
          host: 'localhost:8080',
          cookie,
          'content-type': 'application/x-www-form-urlencoded',
          ...(origin !== undefined && { origin }),
        },
        payload: '',
      });
      // A form with a file is refused for its type before.
      expect([route.url, [400, 403]]).toEqual([route.url, expect.arrayContaining([response.statusCode])]);
    }
  }
  expect(await fingerprint(service)).toEqual(before);
});

test('no page of a shop or of the API can be reached by a session of the admin', async () => {
  const { cookie } = await givenMerchant(service, 'owner');
  for (const url of ['/rs/shops/DemoShop/customers', '/manage/shops/DemoShop/audit']) {
    const { statusCode } = await service.app.inject({ method: 'GET', url, headers: { cookie } });
    expect([url, statusCode]).toEqual([url, 401]);
  }
});
