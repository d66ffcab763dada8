import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newRecoveryCodes, setTotp } from '../src/admin/account/second-factor.ts';
import type { Role } from '../src/admin/users/permissions.ts';
import { findOrCreateUser, insertAdminSession, putRole } from '../src/admin/users/queries.ts';
import { sql } from '../src/db/sql.ts';
import type { Browsing, Visitor } from './browser.ts';
import type { Service } from './service.ts';

/** Somebody who is signed in to the admin. */
export interface Merchant {
  email: string;
  cookie: string;
  /** GET of a page below the shop: `get('/orders')`; a path that begins with /admin is taken as it is. */
  get(path: string): Promise<AdminAnswer>;
  /** Sends a form as a browser does; a field may have several values. */
  post(path: string, fields?: Record<string, string | readonly string[]>): Promise<AdminAnswer>;
}

export interface AdminAnswer {
  status: number;
  text: string;
  location: string | undefined;
  headers: Record<string, unknown>;
}

/** A person with this role in the shop, whose browser is signed in. */
export async function givenMerchant(
  service: Service,
  role: Role | undefined = 'owner',
  shopId = 'DemoShop',
  email = `${role}@${shopId.toLowerCase()}.example`,
): Promise<Merchant> {
  const token = await service.db.transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, email);
    if (role !== undefined) await putRole(tx, shopId, userId, role);
    return insertAdminSession(
      tx,
      userId,
      'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
    );
  });
  return merchantWith(service, `admin=${token}`, shopId, email);
}

/** A page of a browser that is signed in as the owner of the demo shop: `openAdmin(shop, '/orders')`. */
export async function openAdmin(browsing: Browsing, path: string, visitor: Visitor = {}): Promise<Page> {
  const page = await browsing.open(visitor);
  const [name, value] = (await givenMerchant(browsing.service)).cookie.split('=') as [string, string];
  await page.context().addCookies([{ name, value, url: browsing.origin }]);
  await page.goto(`/admin/shops/DemoShop${path}`);
  return page;
}

/** Whoever sends this cookie; '' is a stranger. */
export function merchantWith(service: Service, cookie: string, shopId: string, email: string): Merchant {
  const send = async (method: 'GET' | 'POST', path: string, payload?: string) => {
    const response = await service.app.inject({
      method,
      url: path.startsWith('/admin') ? path : `/admin/shops/${shopId}${path}`,
      headers: {
        host: 'localhost:8080',
        cookie,
        ...(method === 'POST' && {
          origin: 'http://localhost:8080',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        }),
      },
      ...(payload !== undefined && { payload }),
    });
    expect(response.statusCode).toBeLessThan(500);
    return {
      status: response.statusCode,
      text: response.body,
      location: response.headers.location,
      headers: response.headers,
    };
  };
  return {
    email,
    cookie,
    get: (path) => send('GET', path),
    post: (path, fields = {}) =>
      send(
        'POST',
        path,
        new URLSearchParams(
          Object.entries(fields).flatMap(([name, value]) =>
            [value].flat().map((one): [string, string] => [name, one]),
          ),
        ).toString(),
      ),
  };
}

/**
 * Tries of this hour that were made before: `givenTries(service, 'password/ada@shop.example', 24)`. Each password that is
 * really tried costs 40 ms of the processor.
 */
export async function givenTries({ db }: Service, caller: string, tries: number): Promise<void> {
  const hour = new Date(Math.floor(db.now.getTime() / 3_600_000) * 3_600_000);
  await db.run(sql`
    insert into rate_window (caller, starts_at, calls) values (${`admin-form/${caller}`}, ${hour}, ${tries})`);
}

/** A browser that keeps its cookies, from its first page on. */
export interface AdminBrowser {
  cookies: Map<string, string>;
  get(path: string): Promise<AdminAnswer>;
  post(path: string, fields?: Record<string, string>): Promise<AdminAnswer>;
}

export function givenBrowser(
  service: Service,
  { address = '127.0.0.1', host = 'localhost:8080' } = {},
): AdminBrowser {
  const cookies = new Map<string, string>();
  const send = async (method: 'GET' | 'POST', url: string, payload?: string): Promise<AdminAnswer> => {
    const response = await service.app.inject({
      method,
      url,
      remoteAddress: address,
      headers: {
        host,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
        ...(method === 'POST' && {
          origin: `${service.config.PUBLIC_URL === undefined ? 'http' : 'https'}://${host}`,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        }),
      },
      ...(payload !== undefined && { payload }),
    });
    expect(response.statusCode).toBeLessThan(500);
    for (const { name, value } of response.cookies as { name: string; value: string }[]) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, decodeURIComponent(value));
    }
    const { statusCode: status, body: text, headers } = response;
    return { status, text, headers, location: headers.location };
  };
  return {
    cookies,
    get: (path) => send('GET', path),
    post: (path, fields = {}) => send('POST', path, new URLSearchParams(fields).toString()),
  };
}

/** Gives a user an authenticator app with this secret; returns the recovery codes. */
export async function givenTotp(
  { db }: Pick<Service, 'db'>,
  key: Buffer,
  userId: string,
  secret: string,
): Promise<readonly string[]> {
  const recovery = await newRecoveryCodes(key, userId);
  await db.transaction((tx) => setTotp(tx, key, userId, { secret, step: 0 }, recovery));
  return recovery.codes;
}

/** What the next page says once, after a form. */
export function noticeIn({ headers }: AdminAnswer): { text: string; undo?: { action: string } } {
  const cookie = [headers['set-cookie']].flat().find((one) => String(one).startsWith('admin-notice='));
  const [, content] = /^admin-notice=([^.]+)/.exec(String(cookie))!;
  return JSON.parse(Buffer.from(content!, 'base64url').toString());
}
