import type { TObject, TSchema, TUndefined, TVoid } from 'typebox';
import type { Config } from '../config.ts';
import type { Queries, Transaction } from '../db/database.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Produces } from './authentication.ts';
import type { BodyKind } from './body.ts';
import type { Caller } from './callers.ts';
import type { Deprecation } from './deprecation.ts';
import type { HttpError } from './errors.ts';
import type { FailureLimit } from './rate-limit.ts';
import type { Access } from './scopes.ts';

/** Product line of the contract that an operation belongs to; information only. */
export type Label = 'Base' | 'Now';

export interface OperationMetadata {
  /** operationId in the reference. */
  name: string;
  /** Imperative; begins the message of a refused value: "Create customer failed: ...". */
  summary: string;
  /** Replaces the beginning of that message: "Update cart failed: ...". */
  action?: string;
  description?: string;
  /** Its resource in the reference. */
  tag: string;
  labels: readonly Label[];
  access: Access;
  accepts?: BodyKind;
  /** Of the body of an upload, in bytes; absent: the limit of all uploads. */
  uploadLimit?: (config: Config) => number;
  produces?: Produces;
  /** Named database constraints that a caller can violate, as errors. */
  constraints?: Readonly<Record<string, () => HttpError>>;
  /**
   * The answer holds a secret, which is never stored in clear text. A sealed one is replayed for an Idempotency-Key of
   * the same token; callers without a token have only their address in common, so their key is ignored. An answer that
   * is not stored ignores every key.
   */
  secretAnswer?: 'sealed' | 'not stored';
  /** For an operation that can be used for guessing: how often a caller may fail. Only for `writeWithStore`. */
  failureLimit?: (guess: {
    shopId: string;
    params: Record<string, string>;
    caller: Caller;
    address: string;
  }) => FailureLimit;
  /** It only reads, but its data is sensitive enough for an entry in the audit log. */
  isReadAudited?: boolean;
  /** Keys are answered in the handler's order; the schema's serialiser would put optional ones last. */
  keepsKeyOrder?: boolean;
  /** It is deprecated, and answers say so; see docs/versioning.md. */
  deprecated?: Deprecation;
  /**
   * The ETag of the resource, for clients that send it back as If-Match; a GET of the resource answers the same one.
   * It stays strong when the answer is compressed.
   */
  etag?: (answer: never) => string;
  /** It runs only if the ETag in the header If-Match is still current. */
  takesIfMatch?: boolean;
  /** Headers of the answer beside the common ones: their descriptions, by name. */
  answerHeaders?: Readonly<Record<string, string>>;
}

export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Result extends TSchema = TSchema,
> extends OperationMetadata {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /rs/shops/:shopId, below /manage/shops/:shopId, or below /host, where a shop is named by the path itself. */
  path: string;
  /** Operations beyond the contract that clients know have a separate place; those of the host have their own tokens. */
  under?: 'rs' | 'manage' | 'host';
  params?: Params;
  query?: Query;
  body?: Body;
  status?: 200 | 201 | 204;
  /** The answer's schema; absent: an empty answer. */
  answer?: Result;
}

/** The request as a handler sees it. */
export interface Call<Params, Query, Body> {
  /** '' for an operation of the host that names no shop in its path. */
  shopId: string;
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  /** The caller as it is now, for a long response; undefined: its token is no longer valid. */
  currentCaller: () => Promise<Caller | undefined>;
  /** Whether the header Accept of a GET names an event stream. */
  wantsEventStream: boolean;
  /** The header Last-Event-ID of a client that resumes an event stream. */
  lastEventId: string | undefined;
  /** Absolute address of a path of this shop: link('/customers/1'). */
  link: (path: string) => string;
  /** Scheme and host, for addresses outside of the API. */
  origin: string;
  cartToken: string | undefined;
  /** The header If-Match. */
  ifMatch: string | undefined;
  /** Sets a header of the answer. */
  header: (name: string, value: string) => void;
}

export type ReadCall<Params, Query, Body> = Call<Params, Query, Body> & { db: Queries };
export type WriteCall<Params, Query, Body> = Call<Params, Query, Body> & {
  tx: Transaction;
  /** Names the created resources for the audit log: `created({ productId })`. */
  created: (ids: Readonly<Record<string, string>>) => void;
  /**
   * For effects outside of the database (caches, files): runs once, after the commit and before the answer, and
   * not at all when nothing was committed or an old answer is replayed. If it fails, the write stays done.
   */
  afterCommit: (effect: () => void | Promise<void>) => void;
};

/** The request data that a store needs to write. */
export type StoreCall<Params, Query, Body> = Call<Params, Query, Body> & {
  /** Set with an Idempotency-Key, and where several calls are one write: the write must use this transaction. */
  transaction: Transaction | undefined;
  /** Written together with the change; undefined: the operation needs no scope and leaves no entry. */
  entry: AuditEntry | undefined;
};

export type PrepareCall<Params, Query, Body> = ReadCall<Params, Query, Body> & {
  /** With an Idempotency-Key: it may have been answered before, so only the transaction can refuse it. */
  isKeyed: boolean;
};

export type PrepareStoreCall<Params, Query, Body> = Call<Params, Query, Body> &
  Pick<PrepareCall<never, never, never>, 'isKeyed'>;

/** The result of the preparation, and how to undo it when nothing was committed. */
export interface Preparation<Prepared> {
  prepared: Prepared;
  discard: () => Promise<void>;
}

/** Declares an operation. A module registers its handler; pages of the admin call it: `visit.call(createShipment, ...)`. */
export function operation<
  Params extends TObject = TObject<{}>,
  Query extends TObject = TObject<{}>,
  Body extends TSchema = TUndefined,
  Result extends TSchema = TVoid,
>(declared: Operation<Params, Query, Body, Result>): Operation<Params, Query, Body, Result> {
  return declared;
}

/** The path as routes and the audit log name it: `/manage/shops/:shopId/orders/:orderId`, `/host/shops`. */
export function routeOf({ under = 'rs', path }: Pick<Operation, 'under' | 'path'>): string {
  return under === 'host' ? `/host${path}` : `/${under}/shops/:shopId${path}`;
}
