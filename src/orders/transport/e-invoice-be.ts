import http from 'node:http';
import https from 'node:https';
import { randomUUID } from 'node:crypto';
import type { ReceiverPolicy } from '../../apps/webhooks/receiver-address.ts';
import { lookupOf } from '../../apps/webhooks/sending.ts';
import { CALL_TIMEOUT } from '../payments/provider.ts';
import { TransportRefused, type TransportProvider, type TransportStatus } from './provider.ts';

/** Bytes of an answer: a document as JSON, with its lines. */
const MAX_ANSWER = 5_000_000;

/** States of a document as the API has them (`DocumentState`). */
const STATES: Readonly<Record<string, TransportStatus['state']>> = {
  DRAFT: 'stored',
  TRANSIT: 'sending',
  SENT: 'delivered',
  RECEIVED: 'delivered',
  FAILED: 'failed',
};

/**
 * e-invoice.be, a Peppol access point: https://docs.e-invoice.be. `POST /api/documents/ubl` makes a draft of a UBL
 * file, `POST /api/documents/{id}/send` sends it, `GET /api/documents/{id}` tells its state.
 */
export function createEInvoiceBe(
  policy: ReceiverPolicy,
  { endpoint = 'https://api.e-invoice.be' }: { endpoint?: string } = {},
): TransportProvider {
  const call = async (method: 'GET' | 'POST', path: string, apiKey: string, body?: FormFile) => {
    const url = new URL(path, endpoint);
    const problem = policy.problemOf(url);
    if (problem !== undefined) throw new Error(`${endpoint} ${problem}`);
    const form = body && multipart(body);
    const { status, text } = await request(policy, url, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        'user-agent': 'Kontor',
        ...(form && { 'content-type': form.type, 'content-length': String(form.bytes.length) }),
      },
      body: form?.bytes,
    });
    if (status >= 200 && status < 300) return JSON.parse(text) as { id?: unknown; state?: unknown };
    // 408 and 429 ask for a later try, as errors of the server do.
    const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
    const message = `e-invoice.be answered ${status}${isFinal ? reasonOf(text) : ''}`;
    throw isFinal ? new TransportRefused(message) : new Error(message);
  };
  const pathOf = (reference: string) => `/api/documents/${encodeURIComponent(reference)}`;

  return {
    upload: async (file, { apiKey }) => {
      const { id } = await call('POST', '/api/documents/ubl', apiKey, file);
      if (typeof id !== 'string' || id === '' || id.length > 200) {
        throw new Error('e-invoice.be answered without an id');
      }
      return id;
    },
    send: async (reference, { apiKey }) => {
      await call('POST', `${pathOf(reference)}/send`, apiKey);
    },
    status: async (reference, { apiKey }) => {
      const { state } = await call('GET', pathOf(reference), apiKey);
      const known = typeof state === 'string' ? STATES[state] : undefined;
      if (!known)
        throw new Error(`e-invoice.be answered with the unknown state ${String(state).slice(0, 50)}`);
      return { state: known };
    },
  };
}

interface FormFile {
  name: string;
  bytes: Buffer;
}

/** The field `file` of a form, as browsers send it. */
function multipart({ name, bytes }: FormFile): { type: string; bytes: Buffer } {
  const boundary = `kontor-${randomUUID()}`;
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`,
    'Content-Type: application/xml',
    '',
    '',
  ].join('\r\n');
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** Redirects are not followed: they would take the key to another address. */
function request(
  policy: ReceiverPolicy,
  url: URL,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: Buffer | undefined },
): Promise<{ status: number; text: string }> {
  const client = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = client.request(url, {
      method,
      headers,
      lookup: lookupOf(policy, url),
      signal: AbortSignal.timeout(CALL_TIMEOUT),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length <= MAX_ANSWER) return;
        response.destroy();
        reject(new Error('e-invoice.be answered with too much'));
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, text: Buffer.concat(parts).toString() }),
      );
      response.on('error', reject);
    });
    sent.end(body);
  });
}

/** What the service says about a refusal, shortened; it is shown to the merchant as text. */
function reasonOf(text: string): string {
  const said = text.replaceAll(/\s+/g, ' ').replaceAll('\0', '').trim().slice(0, 500);
  return said === '' ? '' : `: ${said}`;
}
