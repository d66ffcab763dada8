import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { wrongContentType } from './body.ts';
import { HttpError, Refusal } from './errors.ts';

/** Limit of the whole body, with the headers of its parts, unless a route sets another one. */
export const UPLOAD_LIMIT = 10 * 1_048_576;

/** Where uploaded files wait. No shop has a name that begins with a dot. */
export function uploadFolder({ KONTOR_DATA }: Config): string {
  return path.resolve(KONTOR_DATA, 'media/.uploads');
}

/** An uploaded file. It is at `path` while the write is prepared. */
export class Upload {
  readonly name: string;
  readonly sha256: string;
  readonly path: string;

  constructor(name: string, sha256: string, path: string) {
    this.name = name;
    this.sha256 = sha256;
    this.path = path;
  }

  /** Identifies equal requests, for an Idempotency-Key. */
  toJSON() {
    return { name: this.name, sha256: this.sha256 };
  }
}

/** For a separate instance: the hooks of this parser would slow down every other request. */
export async function registerUploadParser(app: FastifyInstance, limit = UPLOAD_LIMIT): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, {
    // Other parts are ignored, so little of them is stored; files end with the limit of the whole body.
    limits: { parts: 50, fieldSize: 1_000, fileSize: limit, headerPairs: 20 },
  });
}

/** Receives the file of the part `name`, runs `work` with it in the request's body, and removes the file. */
export async function withUpload<Result>(
  request: FastifyRequest,
  name: string,
  config: Config,
  work: () => Promise<Result>,
  limit = UPLOAD_LIMIT,
): Promise<Result> {
  const place = path.join(uploadFolder(config), randomUUID());
  try {
    request.body = { [name]: await received(request, name, place, limit) };
    return await work();
  } finally {
    await rm(place, { force: true });
  }
}

async function received(
  request: FastifyRequest,
  name: string,
  place: string,
  limit: number,
): Promise<Upload> {
  if (!request.isMultipart()) throw wrongContentType('multipart');
  if (Number(request.headers['content-length']) > limit) throw tooMuch(limit);
  const overflow = new AbortController();
  const parsing = { isWriting: false };
  try {
    return await Promise.race([
      bodyOver(request, limit, overflow),
      partWithoutEnd(request, parsing),
      fileOf(request, name, place, overflow.signal, parsing),
    ]);
  } catch (error) {
    if (error instanceof HttpError || 'syscall' in (error as object)) throw error;
    throw new Refusal('UPLOAD_MALFORMED', { reason: (error as Error).message.slice(0, 120) });
  }
}

/** Fails as soon as the limit is exceeded: a Content-Length may be missing or wrong. */
function bodyOver({ raw }: FastifyRequest, limit: number, overflow: AbortController): Promise<never> {
  return new Promise((_resolve, reject) => {
    let bytes = 0;
    raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit || overflow.signal.aborted) return;
      raw.unpipe();
      overflow.abort();
      reject(tooMuch(limit));
    });
  });
}

const PARSED_WITHIN = 1_000;

/**
 * Fails when the whole body has arrived and the parser still waits: it never finishes a part whose head has no end,
 * and the request would hang for ever. While a file is being written to disk, the parser waits for that.
 */
function partWithoutEnd({ raw }: FastifyRequest, parsing: { isWriting: boolean }): Promise<never> {
  return new Promise((_resolve, reject) => {
    const check = () => {
      if (parsing.isWriting) wait();
      else reject(new Refusal('UPLOAD_MALFORMED', { reason: 'a part has no end' }));
    };
    const wait = () => void setTimeout(check, PARSED_WITHIN).unref();
    raw.once('end', wait);
  });
}

/** Reads the body to its end, even if it is invalid, so the connection can be reused. */
async function fileOf(
  request: FastifyRequest,
  name: string,
  place: string,
  signal: AbortSignal,
  parsing: { isWriting: boolean },
): Promise<Upload> {
  let upload: Upload | undefined;
  let problem: HttpError | undefined;
  for await (const part of request.parts()) {
    if (part.fieldname !== name) {
      if (part.type === 'file') part.file.resume();
    } else if (part.type === 'field') {
      problem = new Refusal('UPLOAD_WITHOUT_NAME', { part: name });
    } else if (upload || !part.filename) {
      part.file.resume();
      problem = new Refusal(upload ? 'UPLOAD_TWICE' : 'UPLOAD_WITHOUT_NAME', { part: name });
    } else {
      const hash = createHash('sha256');
      parsing.isWriting = true;
      await mkdir(path.dirname(place), { recursive: true });
      await pipeline(
        part.file,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(place, { flags: 'wx' }),
        { signal },
      );
      parsing.isWriting = false;
      upload = new Upload(part.filename, hash.digest('hex'), place);
    }
  }
  if (problem) throw problem;
  if (!upload) throw new Refusal('UPLOAD_MISSING', { part: name });
  return upload;
}

/** The client may continue to send, so the connection ends with the answer. */
function tooMuch(limit: number): HttpError {
  return new Refusal('BODY_TOO_LARGE', { limit }, { headers: { connection: 'close' } });
}
