import type { AppCalls } from '../apps/calls/calls.ts';
import type { CartStore } from '../carts/cart-store.ts';
import type { PlaceOrder } from '../checkout/order-cart.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { AnswerSeal } from '../http/idempotency.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import type { PaymentDeps } from '../orders/payments/calls.ts';
import type { ShopHosts } from '../shops/shop/hosts.ts';
import type { AssistantCalls } from './calls.ts';
import type { PlatformProfiles } from './profiles.ts';

export interface AssistantDeps {
  db: Database;
  config: Config;
  hosts: ShopHosts;
  limiter: RateLimiter;
  profiles: PlatformProfiles;
  calls: AssistantCalls;
  carts: CartStore;
  appCalls: AppCalls;
  placeOrder: PlaceOrder;
  payments: PaymentDeps;
  answerSeal: AnswerSeal;
  loadKey: () => Promise<Buffer>;
  isMigrated: () => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body of a request of an assistant as it was received, for its signature. */
    bodyBytes?: Buffer;
    /** What is noted of a request of an assistant; undefined until its shop is known. */
    assistantCall?: NotedCall;
  }
  interface FastifyContextConfig {
    /** Failures are said in JSON-RPC. */
    isRpc?: boolean;
  }
}

export interface NotedCall {
  shopId: string;
  operation: string;
  transport: 'rest' | 'mcp';
  profile: string;
  signed: boolean;
  problem: string | null;
}
