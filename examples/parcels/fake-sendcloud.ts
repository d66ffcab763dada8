import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { NewReturn, NewShipment, Return, Shipment } from './sendcloud.ts';

/**
 * Sendcloud as version 3 of its documentation describes it, as far as the app uses it: shipping options with quotes,
 * announcing, references that are unique, returns, and labels.
 */
export interface FakeSendcloud {
  baseUrl: string;
  /** By their references: each of them was paid for. */
  shipments: Map<string, Shipment>;
  returns: (Return & { created_at: string })[];
  asked: { method: string; path: string; body: unknown }[];
  /** Drops the connection once a label is made, so that its answer is lost. */
  losesAnswers: boolean;
  /** Milliseconds before each answer. */
  delay: number;
  close(): Promise<void>;
}

export const KEYS = { publicKey: 'public', secretKey: 'secret' };
const AUTHORIZATION = `Basic ${Buffer.from('public:secret').toString('base64')}`;
const PRICES: Readonly<Record<string, string>> = {
  'postnl:standard': '6.75',
  'dhl:parcel/signature': '8.10',
};

export async function startFakeSendcloud(): Promise<FakeSendcloud> {
  let parcels = 0;
  const server = createServer((request, response) => {
    const work = async () => {
      const url = new URL(request.url!, fake.baseUrl);
      const path = url.pathname.replace('/api/v3', '');
      const body: unknown = request.method === 'POST' ? await json(request) : undefined;
      fake.asked.push({ method: request.method!, path, body });
      await new Promise((resolve) => {
        setTimeout(resolve, fake.delay);
      });
      if (request.headers.authorization !== AUTHORIZATION) {
        return send(response, 401, errors('authentication_failed', 'Invalid username/password.'));
      }
      switch (`${request.method} ${path}`) {
        case 'POST /shipping-options':
          return send(response, 200, { data: options(), message: null });
        case 'POST /shipments/announce':
          return announce(response, body as NewShipment);
        case 'GET /shipments': {
          const found = fake.shipments.get(url.searchParams.get('external_reference_id') ?? '');
          return send(response, 200, { data: found ? [found] : [] });
        }
        case 'POST /returns/announce-synchronously':
          return createReturn(response, body as NewReturn);
        case 'GET /returns': {
          const since = `${url.searchParams.get('from_date')!.replace(' ', 'T')}Z`;
          return send(response, 200, { data: fake.returns.filter((one) => one.created_at >= since) });
        }
        default: {
          const id = /^\/returns\/(\d+)$/.exec(path)?.[1];
          if (id !== undefined) return send(response, 200, fake.returns[Number(id) - 1]!);
          if (!path.endsWith('/documents/label'))
            return send(response, 404, errors('not_found', 'Not found.'));
          response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 label');
        }
      }
    };
    work().catch((error: unknown) => response.destroy(error as Error));
  });

  const announce = (response: ServerResponse, asked: NewShipment) => {
    const { external_reference_id: reference, ship_with, to_address } = asked;
    const code = ship_with.properties.shipping_option_code;
    const known = fake.shipments.get(reference);
    if (known) return send(response, 409, { data: known });
    if (!(code in PRICES)) return send(response, 404, errors('not_found', `No shipping option ${code}.`));
    if (to_address.postal_code === '00000') {
      return send(response, 400, errors('validation_error', 'The postal code is not valid.'));
    }
    const shipment: Shipment = {
      id: `shipment-${fake.shipments.size + 1}`,
      carrier: { code: code.split(':')[0]!, name: code.startsWith('postnl') ? 'PostNL' : 'DHL' },
      parcels: asked.parcels.map(() => parcel()),
    };
    fake.shipments.set(reference, shipment);
    send(response, 201, { data: shipment }, fake.losesAnswers);
  };

  const createReturn = (response: ServerResponse, { order_number }: NewReturn) => {
    const { tracking_number, tracking_url, documents } = parcel();
    const made = {
      order_number,
      tracking_number,
      tracking_url,
      label: { normal_printer: [documents[0]!.link] },
    };
    fake.returns.push({ ...made, created_at: new Date().toISOString() });
    const return_id = fake.returns.length;
    send(response, 201, { return_id, parcel_id: parcels, multi_collo_ids: [] }, fake.losesAnswers);
  };

  const parcel = () => {
    const id = ++parcels;
    const link = `${fake.baseUrl}/parcels/${id}/documents/label`;
    return {
      tracking_number: `3SYZXG${1000 + id}`,
      tracking_url: `https://tracking.example/3SYZXG${1000 + id}`,
      documents: [{ type: 'label', size: 'a6', link }],
    };
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeSendcloud = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    shipments: new Map(),
    returns: [],
    asked: [],
    losesAnswers: false,
    delay: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return fake;
}

function options() {
  return Object.entries(PRICES).map(([code, value]) => ({
    code,
    name: code.startsWith('postnl') ? 'PostNL Standard' : 'DHL with signature',
    carrier: { code: code.split(':')[0] },
    quotes: [{ lead_time: 24, price: { total: { value, currency: 'EUR' } } }],
  }));
}

const errors = (code: string, detail: string) => ({ errors: [{ status: '400', code, detail }] });

function send(response: ServerResponse, status: number, body: object, isLost = false): void {
  if (isLost) response.destroy();
  else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
