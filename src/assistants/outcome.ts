import { envelope, type Capability } from './capabilities.ts';
import type { Message } from './messages.ts';

/** Answers of operations: what came of them for the buyer. */

export const success = (capabilities: readonly Capability[], body: object) => ({
  ucp: envelope(capabilities),
  ...body,
});

/** There is nothing to show: an outcome, not a problem of the protocol. */
export function failure(capability: Capability, code: string, content: string, home?: string): object {
  const messages: Message[] = [{ type: 'error', code, content, severity: 'unrecoverable' }];
  return {
    ucp: envelope([capability], 'error'),
    messages,
    ...(home !== undefined && { continue_url: `${home}/` }),
  };
}

export function isFailure(answer: object): boolean {
  return (answer as { ucp?: { status?: string } }).ucp?.status === 'error';
}
