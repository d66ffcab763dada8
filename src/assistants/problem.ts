import { HttpError } from '../http/errors.ts';

/**
 * The reason why a request of an assistant is not processed, with its code in the protocol. A shop that can't do
 * something for its buyer is no problem of the protocol: it answers with messages.
 */
export class ProtocolProblem extends HttpError {
  override name = 'ProtocolProblem';
  readonly code: ProblemCode;

  constructor(code: ProblemCode, text: string, headers: Record<string, string> = {}) {
    super(PROBLEMS[code].status, text, headers);
    this.code = code;
  }

  /** The code of JSON-RPC. */
  get rpcCode(): number {
    return PROBLEMS[this.code].rpc;
  }
}

const PROBLEMS = {
  invalid_request: { status: 400, rpc: -32602 },
  request_too_large: { status: 400, rpc: -32602 },
  invalid_profile_url: { status: 400, rpc: -32001 },
  profile_unreachable: { status: 424, rpc: -32001 },
  profile_malformed: { status: 422, rpc: -32001 },
  version_unsupported: { status: 422, rpc: -32001 },
  signature_missing: { status: 401, rpc: -32000 },
  signature_invalid: { status: 401, rpc: -32000 },
  key_not_found: { status: 401, rpc: -32000 },
  digest_mismatch: { status: 400, rpc: -32600 },
  algorithm_unsupported: { status: 400, rpc: -32600 },
  idempotency_conflict: { status: 409, rpc: -32000 },
  origin_refused: { status: 403, rpc: -32000 },
  rate_limit_exceeded: { status: 429, rpc: -32000 },
  discovery_busy: { status: 503, rpc: -32000 },
  not_found: { status: 404, rpc: -32601 },
} as const satisfies Record<string, { status: number; rpc: number }>;

export type ProblemCode = keyof typeof PROBLEMS;
