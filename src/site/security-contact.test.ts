import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { startService, type Service } from '../../test/service.ts';

const FILE = '/.well-known/security.txt';

let named: Service;
let silent: Service;
beforeAll(async () => {
  named = await startService({
    SECURITY_CONTACT: 'mailto:security@shops.example',
    PUBLIC_URL: 'https://shops.example/',
  });
  silent = await startService({}, named);
  await givenShop(named, 'Shop');
});
afterAll(async () => {
  await silent.close();
  await named.close();
});

const get = ({ app }: Service, host: string) =>
  app.inject({ method: 'GET', url: FILE, headers: { host, 'x-forwarded-proto': 'https' } });

test('the host of the service names the contact of the operator for the next 90 days', async () => {
  named.setClock(new Date('2026-12-31T23:59:59Z'));
  const { statusCode, headers, body } = await get(named, 'shops.example');
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(body).toBe(
    'Contact: mailto:security@shops.example\n' +
      'Expires: 2027-03-31T00:00:00.000Z\n' +
      'Canonical: https://shops.example/.well-known/security.txt\n',
  );
});

test('without a contact there is no file, and hosts of shops have none', async () => {
  expect((await get(silent, 'localhost')).statusCode).toBe(404);
  // The private service gives every shop a host of its own.
  const contact = await startService({ SECURITY_CONTACT: 'https://shops.example/security' }, named);
  await contact.app.ready();
  expect((await get(contact, 'localhost')).body).toContain('Contact: https://shops.example/security\n');
  expect((await get(contact, 'shop.localhost')).statusCode).toBe(404);
  await contact.close();
});
