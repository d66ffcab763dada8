import { plainText } from '../src/http/html.ts';
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

/** The same on the shop's own host, where the scripts of apps are loaded: `readOwnPage(service, 'DemoShop', '/cart')`. */
export function readOwnPage(
  service: Service,
  shopId: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReadPage> {
  return readAt(service, path, { host: `${shopId.toLowerCase()}.localhost:80`, ...headers });
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
export async function cookieOfCurrency({ app }: Service, shopId: string, currency: string): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: `/shop/${shopId}/currency`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: `currency=${currency}`,
  });
  return String(response.headers['set-cookie']).split(';')[0]!;
}
