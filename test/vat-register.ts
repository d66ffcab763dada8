import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answers that VIES gives, as recorded; `slow` answers after three seconds. */
export type Behaviour =
  | 'valid'
  | 'invalid'
  | 'slow'
  | 'error'
  | 'rubbish'
  | 'tooLarge'
  | 'away'
  | 'requesterUnknown';

export interface VatRegisterServer {
  /** For VIES_URL. */
  url: string;
  behaviour: Behaviour;
  /** The bodies of the requests. */
  asked: Record<string, string>[];
  close(): Promise<void>;
}

/** The REST service of VIES, on this machine. */
export async function startVatRegister(): Promise<VatRegisterServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, string>;
      register.asked.push(body);
      const send = (status: number, text: string) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      const found = (valid: boolean, more: object = {}) =>
        JSON.stringify({
          countryCode: body['countryCode'],
          vatNumber: body['vatNumber'],
          requestDate: '2026-11-18T10:00:00.000Z',
          valid,
          requestIdentifier: body['requesterNumber'] ? `WAPIAAAAYvK${register.asked.length}` : '',
          name: valid ? 'QUAI SAS' : '---',
          address: valid ? '4 QUAI DU PORT\n13002 MARSEILLE' : '---',
          traderNameMatch: 'NOT_PROCESSED',
          ...more,
        });
      const failed = (error: string) => JSON.stringify({ actionSucceed: false, errorWrappers: [{ error }] });
      if (request.url !== '/rest-api/check-vat-number' || request.method !== 'POST') return send(404, '{}');
      switch (register.behaviour) {
        case 'valid':
          return send(200, found(true));
        case 'invalid':
          return send(200, found(false));
        case 'slow':
          return setTimeout(() => send(200, found(true)), 3_000);
        case 'error':
          return send(500, '<html>Internal Server Error</html>');
        case 'rubbish':
          return send(200, '{"valid":"yes","requestIdentifier":7,"errorWrappers":[null]}');
        case 'tooLarge':
          return send(200, found(true, { address: 'x'.repeat(1_000_000) }));
        case 'away':
          return send(200, failed('MS_UNAVAILABLE'));
        case 'requesterUnknown':
          return send(200, body['requesterNumber'] ? failed('INVALID_REQUESTER_INFO') : found(true));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const register: VatRegisterServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rest-api`,
    behaviour: 'valid',
    asked: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return register;
}
