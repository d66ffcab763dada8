import { plainText } from '../src/http/html.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import type { Answer, Service } from './service.ts';

export interface ReadPage {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  /** The page itself, without what is around it. */
  main: string;
  /** What people read of it, a line for each block. */
  lines: string[];
  /** Elements with data, by their ids. */
  json: (id: string) => Answer['body'];
}

/** A page of a shop as a browser gets it on the service's host: `readPage(service, '/DemoShop/cart')`. */
export function readPage(
  service: Service,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReadPage> {
  return readAt(service, `/shop${path}`, headers);
}

/**
 * The same on the shop's own host, for a visitor who has allowed everything: `readOwnPage(service, 'DemoShop', '/cart')`.
 * There the scripts of apps are loaded, if the shop loads any.
 */
export async function readOwnPage(
  service: Service,
  shopId: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReadPage> {
  const cookie = await cookieOfConsent(service, shopId);
  return readAt(service, path, { host: `${shopId.toLowerCase()}.localhost:80`, cookie, ...headers });
}

/** Lets a demo shop load the scripts of its apps, whose host does not exist. */
export async function loadAppScripts({ db }: Service, shopId = 'DemoShop'): Promise<void> {
  await db.transaction((tx) => applySettings(tx, shopId, { appScripts: { load: true } }));
}

async function readAt({ app }: Service, url: string, headers: Record<string, string>): Promise<ReadPage> {
  const { statusCode, headers: answered, body } = await app.inject({ url, headers });
  const main = /<main[^>]*>([^]*)<\/main>/.exec(body)?.[1] ?? '';
  return {
    status: statusCode,
    headers: answered,
    text: body,
    main,
    lines: plainText(main).split('\n'),
    json: (id) => {
      const content = new RegExp(`<script type="[^"]*" id="${id}">([^]*?)</script>`).exec(body)?.[1];
      return content === undefined ? undefined : JSON.parse(content);
    },
  };
}

/** The cookie of a visitor who chose this currency. */
export function cookieOfCurrency(service: Service, shopId: string, currency: string): Promise<string> {
  return cookieAfter(service, `/shop/${shopId}/currency`, `currency=${currency}`);
}

/** The cookie of a visitor who has allowed everything, or only what is necessary. */
export function cookieOfConsent(
  service: Service,
  shopId: string,
  consent: 'all' | 'necessary' = 'all',
): Promise<string> {
  return cookieAfter(service, `/shop/${shopId}/consent`, `consent=${consent}`);
}

async function cookieAfter({ app }: Service, url: string, payload: string): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin: 'http://localhost',
    },
    payload,
  });
  return String(response.headers['set-cookie']).split(';')[0]!;
}
