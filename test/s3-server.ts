import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server with the part of S3's protocol that stores images and backups, in memory. It is strict where servers in use are lenient:
 * every request must be signed (Signature Version 4) over its path, query, body, host and all x-amz-* headers, for the
 * right region and within 15 minutes, and a request that S3 does not know is refused.
 */
export interface S3Server {
  /** Where files are found whose names begin with the prefix, as MEDIA_URL names it. */
  urlOf(prefix: string): string;
  /** By bucket-less key. */
  readonly objects: Map<string, StoredObject>;
  /** Uploads in parts that are not complete, by id. */
  readonly uploads: Map<string, PartialUpload>;
  /** What was asked for, such as `PUT Shop/…/a.png`; a list begins with `LIST`. */
  readonly requests: string[];
  /** Answers so many requests with 503, as a store does that is asked too often. */
  failNext(count: number): void;
  /** Accepts requests and never answers them. */
  setSilent(isSilent: boolean): void;
  /** Answers with something else than the truth. `undefined`: it tells the truth again. */
  setLie(lie: Lie | undefined): void;
  /** Nobody listens any more. */
  stop(): Promise<void>;
}

/** Answers a request instead of the server, or returns false to leave it to the server. */
export type Lie = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface PartialUpload {
  key: string;
  type: string | undefined;
  parts: Map<number, Buffer>;
}

export interface StoredObject {
  bytes: Buffer;
  modifiedAt: Date;
  type: string | undefined;
}

const BUCKET = 'kontor-test';
const REGION = 'eu-test-1';
const ACCESS_KEY = 'test-access-key';
const SECRET_KEY = 'test-secret-key';
const PAGE = 1_000;
/** Only the last part of an upload may be smaller. */
const MIN_PART = 5 * 1_048_576;

/** The client finds these as it does in use, in the environment. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export async function startS3Server(): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, PartialUpload>();
  const requests: string[] = [];
  let failures = 0;
  let silent = false;
  let lie: Lie | undefined;
  Object.assign(process.env, CREDENTIALS);

  const server = http.createServer((request, response) => {
    if (silent || lie?.(request, response)) return;
    answer(request, response).catch((error: unknown) => {
      const { status, code } = error instanceof Refusal ? error : new Refusal(500, String(error));
      const text = `<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(request.method === 'HEAD' ? '' : text);
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (failures > 0) {
      failures--;
      throw new Refusal(503, 'SlowDown');
    }
    checkSignature(request, body);
    const { pathname, searchParams } = new URL(request.url!, 'http://s3');
    const [, bucket, ...parts] = decodeURIComponent(pathname).split('/');
    if (bucket !== BUCKET) throw new Refusal(404, 'NoSuchBucket');
    const key = parts.join('/');
    const { method } = request;
    if (searchParams.has('uploads') || searchParams.has('uploadId')) {
      requests.push(`${method} upload ${key}`);
      answerUpload(request, response, { key, body, searchParams });
    } else if (key === '' && method === 'GET' && searchParams.get('list-type') === '2') {
      requests.push(`LIST ${searchParams.get('prefix') ?? ''}`);
      sendXml(response, listOf(objects, searchParams));
    } else if (key !== '' && method === 'PUT') {
      requests.push(`PUT ${key}`);
      const type = request.headers['content-type'];
      objects.set(key, { bytes: body, modifiedAt: new Date(), type });
      response.writeHead(200, { etag: etagOf(body) }).end();
    } else if (key !== '' && method === 'DELETE') {
      requests.push(`DELETE ${key}`);
      objects.delete(key);
      response.writeHead(204).end();
    } else if (key !== '' && (method === 'GET' || method === 'HEAD')) {
      requests.push(`${method} ${key}`);
      sendObject(request, response, objects.get(key));
    } else {
      throw new Refusal(405, 'MethodNotAllowed');
    }
  }

  /** Uploads in parts: begin, send a part, complete, abort, list. */
  function answerUpload(
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    { key, body, searchParams }: { key: string; body: Buffer; searchParams: URLSearchParams },
  ): void {
    if (searchParams.has('uploads')) {
      if (method === 'GET') {
        const begun = [...uploads].filter(([, upload]) =>
          upload.key.startsWith(searchParams.get('prefix') ?? ''),
        );
        const entries = begun.map(
          ([id, upload]) => `<Upload><Key>${upload.key}</Key><UploadId>${id}</UploadId></Upload>`,
        );
        sendXml(response, `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`);
        return;
      }
      if (method !== 'POST') throw new Refusal(405, 'MethodNotAllowed');
      const id = randomUUID();
      uploads.set(id, { key, type: headers['content-type'], parts: new Map() });
      sendXml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
      return;
    }
    const id = searchParams.get('uploadId')!;
    const upload = uploads.get(id);
    if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
    if (method === 'PUT') {
      upload.parts.set(Number(searchParams.get('partNumber')), body);
      response.writeHead(200, { etag: etagOf(body) }).end();
    } else if (method === 'DELETE') {
      uploads.delete(id);
      response.writeHead(204).end();
    } else if (method === 'POST') {
      const named = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag><PartNumber>(\d+)<\/PartNumber>/g)];
      const parts = named.map(([, etag, number]) => {
        const part = upload.parts.get(Number(number));
        if (!part || etagOf(part) !== etag!.replaceAll('&quot;', '"')) throw new Refusal(400, 'InvalidPart');
        return part;
      });
      if (parts.length === 0) throw new Refusal(400, 'MalformedXML');
      if (parts.slice(0, -1).some((part) => part.length < MIN_PART)) throw new Refusal(400, 'EntityTooSmall');
      objects.set(key, { bytes: Buffer.concat(parts), modifiedAt: new Date(), type: upload.type });
      uploads.delete(id);
      sendXml(response, `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`);
    } else throw new Refusal(405, 'MethodNotAllowed');
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (prefix) => `s3://${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}&region=${REGION}`,
    objects,
    uploads,
    requests,
    failNext: (count) => {
      failures = count;
    },
    setSilent: (isSilent) => {
      silent = isSilent;
    },
    setLie: (given) => {
      lie = given;
    },
    stop: async () => {
      for (const name of Object.keys(CREDENTIALS)) Reflect.deleteProperty(process.env, name);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function checkSignature({ method, url, headers }: IncomingMessage, body: Buffer): void {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const [, accessKey, day, region, signedHeaders, signature] =
    pattern.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined) throw new Refusal(403, 'AccessDenied');
  if (accessKey !== ACCESS_KEY) throw new Refusal(403, 'InvalidAccessKeyId');
  if (region !== REGION) throw new Refusal(400, 'AuthorizationHeaderMalformed');

  const time = String(headers['x-amz-date']);
  const sentAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!time.startsWith(day!) || !(Math.abs(Date.now() - sentAt) < 15 * 60_000)) {
    throw new Refusal(403, 'RequestTimeTooSkewed');
  }
  const payloadHash = String(headers['x-amz-content-sha256']);
  if (payloadHash !== createHash('sha256').update(body).digest('hex')) {
    throw new Refusal(400, 'XAmzContentSHA256Mismatch');
  }
  const names = signedHeaders!.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (!mustBeSigned.every((name) => names.includes(name))) throw new Refusal(403, 'AccessDenied');

  const [place, query = ''] = url!.split('?', 2);
  const parameters = query.split('&').filter((each) => each !== '');
  const canonical = [
    method,
    place,
    parameters
      .map((each) => (each.includes('=') ? each : `${each}=`))
      .toSorted()
      .join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders,
    payloadHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const key = [day!, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${SECRET_KEY}`,
  );
  const expected = createHmac('sha256', key).update(text).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    throw new Refusal(403, 'SignatureDoesNotMatch');
  }
}

function listOf(objects: S3Server['objects'], parameters: URLSearchParams): string {
  const prefix = parameters.get('prefix') ?? '';
  const after = Buffer.from(parameters.get('continuation-token') ?? '', 'base64').toString();
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const page = keys.slice(0, PAGE);
  const contents = page.map((key) => {
    const { bytes, modifiedAt } = objects.get(key)!;
    return `<Contents><Key>${key}</Key><LastModified>${modifiedAt.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
  });
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? Buffer.from(page.at(-1)!).toString('base64') : '';
  return [
    '<ListBucketResult>',
    `<KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${next}</NextContinuationToken>` : '',
    ...contents,
    '</ListBucketResult>',
  ].join('');
}

function sendObject(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  object: StoredObject | undefined,
): void {
  if (!object) throw new Refusal(404, 'NoSuchKey');
  const { bytes, modifiedAt, type } = object;
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (headers.range !== undefined && from === undefined) throw new Refusal(400, 'InvalidArgument');
  const start = Number(from ?? 0);
  const end = Math.min(Number(to ?? Infinity), bytes.length - 1);
  if (from !== undefined && start > end) throw new Refusal(416, 'InvalidRange');
  response.writeHead(from === undefined ? 200 : 206, {
    'content-length': end - start + 1,
    'last-modified': modifiedAt.toUTCString(),
    etag: etagOf(bytes),
    ...(type !== undefined && { 'content-type': type }),
    ...(from !== undefined && { 'content-range': `bytes ${start}-${end}/${bytes.length}` }),
  });
  response.end(method === 'HEAD' ? undefined : bytes.subarray(start, end + 1));
}

function sendXml(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
