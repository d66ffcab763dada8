import { idTokens, type IdTokens } from '../platform/id-tokens.ts';

/**
 * The ids that assistants know sessions and orders by. They are secrets: an assistant that does not sign proves by the id that
 * the session or the order is its own.
 */
export interface AssistantTokens {
  sessions: IdTokens;
  orders: IdTokens;
}

export const assistantTokens = (installationKey: Buffer): AssistantTokens => ({
  sessions: idTokens(installationKey, 'kontor sessions of assistants'),
  orders: idTokens(installationKey, 'kontor orders of assistants'),
});
