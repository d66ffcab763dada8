/** The part of version 3 of Sendcloud's API that the app uses: https://sendcloud.dev/api/v3 */

export interface SendcloudAddress {
  name: string;
  company_name?: string;
  address_line_1: string;
  house_number?: string;
  postal_code: string;
  city: string;
  country_code: string;
  email?: string;
  phone_number?: string;
}

interface Weight {
  value: string;
  unit: 'kg';
}

interface ParcelDocument {
  type: string;
  link: string;
}

export interface Parcel {
  tracking_number: string | null;
  tracking_url: string | null;
  documents: ParcelDocument[];
}

export interface Shipment {
  id: string;
  carrier: { code: string; name: string };
  parcels: Parcel[];
}

export interface NewShipment {
  external_reference_id: string;
  order_number: string;
  from_address: SendcloudAddress;
  to_address: SendcloudAddress;
  ship_with: { type: 'shipping_option_code'; properties: { shipping_option_code: string } };
  parcels: { weight: Weight }[];
}

export interface NewReturn {
  order_number: string;
  external_reference: string;
  from_address: SendcloudAddress;
  to_address: SendcloudAddress;
  ship_with: { type: 'shipping_option_code'; shipping_option_code: string };
  weight: { value: number; unit: 'kg' };
}

export interface Return {
  order_number: string;
  tracking_number: string | null;
  tracking_url: string | null;
  label?: { normal_printer: string[] };
}

export interface ShippingOption {
  code: string;
  name: string;
  quotes: { price: { total: { value: string; currency: string } } }[] | null;
}

/** Sendcloud has refused what it was asked; the text is its own. */
export class SendcloudProblem extends Error {
  override readonly name = 'SendcloudProblem';
  /** Nothing was made: it is wrong, and not only at the moment. */
  readonly isFinal: boolean;
  constructor(text: string, { status }: { status: number } = { status: 500 }) {
    super(text);
    this.isFinal = status >= 400 && status < 500 && status !== 429 && status !== 408;
  }
}

export interface Sendcloud {
  options(question: {
    from: { country: string; zipCode: string };
    to: { country: string; zipCode: string | null };
    kilos: string;
  }): Promise<ShippingOption[]>;
  /** With a reference that was used before, it is the shipment of then, and costs nothing. */
  announce(shipment: NewShipment): Promise<Shipment>;
  /** Costs each time: look for it in `returns` first. */
  createReturn(asked: NewReturn): Promise<Return>;
  returns(since: Date): Promise<Return[]>;
  document(link: string): Promise<Buffer>;
}

export interface SendcloudAccount {
  baseUrl: string;
  publicKey: string;
  secretKey: string;
}

/** Milliseconds. */
const PATIENCE = 20_000;
const RATES_PATIENCE = 700;
const MAX_PAGES = 20;

export function connectToSendcloud({ baseUrl, publicKey, secretKey }: SendcloudAccount): Sendcloud {
  const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
  const send = (method: string, address: string, body?: object, timeout = PATIENCE) =>
    fetch(address, {
      method,
      redirect: 'error',
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout),
    });
  const call = async <Answer>(
    method: string,
    path: string,
    body?: object,
    timeout?: number,
  ): Promise<Answer> => {
    const response = await send(method, baseUrl + path, body, timeout);
    if (response.ok) return (await response.json()) as Answer;
    throw new SendcloudProblem(await problemOf(response), response);
  };

  return {
    async options({ from, to, kilos }) {
      const { data } = await call<{ data: ShippingOption[] }>(
        'POST',
        '/shipping-options',
        {
          from_address: { country_code: from.country, postal_code: from.zipCode },
          to_address: { country_code: to.country, ...(to.zipCode !== null && { postal_code: to.zipCode }) },
          parcels: [{ weight: { value: kilos, unit: 'kg' } }],
          calculate_quotes: true,
        },
        RATES_PATIENCE,
      );
      return data;
    },
    async announce(shipment) {
      const response = await send('POST', `${baseUrl}/shipments/announce`, shipment);
      // The reference is unique: 409 says that it was announced before.
      if (response.status === 409) {
        const reference = encodeURIComponent(shipment.external_reference_id);
        const found = await call<{ data: Shipment[] }>(
          'GET',
          `/shipments?external_reference_id=${reference}`,
        );
        if (!found.data[0]) throw new SendcloudProblem('The shipment with this reference is not to be found');
        return found.data[0];
      }
      if (!response.ok) throw new SendcloudProblem(await problemOf(response), response);
      return ((await response.json()) as { data: Shipment }).data;
    },
    async createReturn(asked) {
      const { return_id } = await call<{ return_id: number }>(
        'POST',
        '/returns/announce-synchronously',
        asked,
      );
      return call('GET', `/returns/${return_id}`);
    },
    async returns(since) {
      const text = (date: Date) => date.toISOString().slice(0, 19).replace('T', ' ');
      const to = new Date(Date.now() + 60_000);
      const query = new URLSearchParams({ from_date: text(since), to_date: text(to), page_size: '40' });
      const all: Return[] = [];
      for (let page = 0; page < MAX_PAGES; page++) {
        const { data, next } = await call<{ data: Return[]; next?: string }>(
          'GET',
          `/returns?${query.toString()}`,
        );
        all.push(...data);
        const cursor = next ? new URL(next).searchParams.get('cursor') : null;
        if (cursor === null) return all;
        query.set('cursor', cursor);
      }
      throw new SendcloudProblem('There are too many returns to look through');
    },
    async document(link) {
      // The key goes to Sendcloud only.
      if (new URL(link).origin !== new URL(baseUrl).origin)
        throw new SendcloudProblem('The label is elsewhere');
      const response = await send('GET', link);
      if (!response.ok) throw new SendcloudProblem(await problemOf(response), response);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

async function problemOf(response: Response): Promise<string> {
  const text = await response.text();
  const detail = /"detail":\s*"([^"]{1,300})"/.exec(text)?.[1];
  return detail ?? `Sendcloud answers ${response.status}`;
}
