import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { Service } from './service.ts';

export interface PageAnswer {
  status: number;
  headers: LightMyRequestResponse['headers'];
  text: string;
}

/**
 * Somebody with a browser that runs no scripts: it keeps the cookie and says where its forms come from. On the host of
 * the service, or on one of the shop's own.
 */
export function givenVisitor(service: Service, shopId: string, address = '127.0.0.1', host = 'localhost') {
  let cookie: string | undefined;
  let deviceCookie: string | undefined;
  let accountCookie: string | undefined;
  const base = host === 'localhost' ? `/shop/${shopId}` : '';

  const send = async (method: 'GET' | 'POST', path: string, headers: object, payload?: string) => {
    const cookies = Object.entries({ visit: cookie, account: accountCookie, device: deviceCookie }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`${name}=${value}`]),
    );
    const url = path.startsWith(`/shop/${shopId}`) ? path : base + path || '/';
    const answer = await service.app.inject({
      method,
      url,
      remoteAddress: address,
      headers: { host, ...(cookies.length > 0 && { cookie: cookies.join('; ') }), ...headers },
      ...(payload !== undefined && { payload }),
    });
    const written = answer.cookies.find(({ name }) => name === 'visit');
    if (written) cookie = written.value;
    deviceCookie = answer.cookies.find(({ name }) => name === 'device')?.value ?? deviceCookie;
    const signedIn = answer.cookies.find(({ name }) => name === 'account');
    // A cookie that is deleted is written with an empty value.
    if (signedIn) accountCookie = signedIn.value || undefined;
    return { status: answer.statusCode, headers: answer.headers, text: answer.body } satisfies PageAnswer;
  };

  return {
    get: (path: string, headers: Record<string, string> = {}) => send('GET', path, headers),

    /** Sends a form; `from` is the page it stands on. */
    post: (path: string, fields: Record<string, string>, headers: Record<string, string> = {}, from = '') =>
      send(
        'POST',
        path,
        {
          origin: `http://${host}`,
          referer: `http://${host}${base}${from}`,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        new URLSearchParams(fields).toString(),
      ),

    /** Sends a form that is taken, and opens the page that it leads to. */
    async submit(
      path: string,
      fields: Record<string, string>,
      from = '',
    ): Promise<PageAnswer & { place: string }> {
      const answer = await this.post(path, fields, {}, from);
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 303, text: '' });
      const place = String(answer.headers.location);
      return { ...(await this.get(place)), place };
    },

    /** What the cookie says. */
    session: (): Record<string, unknown> =>
      cookie === undefined
        ? {}
        : (JSON.parse(Buffer.from(cookie.split('.')[0]!, 'base64url').toString()) as Record<string, unknown>),

    /** Undefined: the browser is not signed in. */
    accountCookie: () => accountCookie,
    useAccountCookie: (value: string | undefined) => {
      accountCookie = value;
    },

    cookie: () => cookie,
    useCookie: (value: string | undefined) => {
      cookie = value;
    },
  };
}

export type Visitor = ReturnType<typeof givenVisitor>;

/** The text of a page's content, without markup and with single blanks. */
export function mainOf({ text }: Pick<PageAnswer, 'text'>): string {
  const [, main = ''] = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  return main
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
