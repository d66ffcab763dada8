import type { FastifyRequest } from 'fastify';
import type { DemoAccess } from './demo-access.ts';

/**
 * The demo shop of a first start on this machine has tokens that are public in the README. They are valid only for
 * programs on this machine: as soon as others can reach the service they are refused like unknown ones, because the
 * demo shop stays in the database when an installation is opened to the world.
 */
export const DEMO_TOKENS = [
  'demo-all',
  'demo-read',
  'demo-widgets',
  'demo-pricing',
  'demo-none',
  'demo-busy',
] as const;
export type DemoToken = (typeof DEMO_TOKENS)[number];

/** Cart tokens of the demo shop; the last one is that of a cart which has become an order. */
const DEMO_CART_TOKENS = ['demo-cart-a', 'demo-cart-b', 'demo-cart-c', 'demo-cart-d'] as const;
export type DemoCartToken = (typeof DEMO_CART_TOKENS)[number];

const known: ReadonlySet<string> = new Set([...DEMO_TOKENS, ...DEMO_CART_TOKENS]);

export const DEMO_TOKENS_REFUSED =
  'the tokens of the demo shop that everybody knows (demo-all, ...) are refused, because others than programs on ' +
  'this machine can call: create one with `npx kontor token create DemoShop --scopes all`';

/** Tells whether a token or cart token is refused for this request. Logs the first time only. */
export function demoTokenCheck(demoAccess: DemoAccess) {
  let isLogged = false;
  return (token: string, request: FastifyRequest): boolean => {
    if (!known.has(token) || demoAccess.isOpen()) return false;
    if (!isLogged) {
      isLogged = true;
      request.log.warn(DEMO_TOKENS_REFUSED);
    }
    return true;
  };
}

export type DemoTokenCheck = ReturnType<typeof demoTokenCheck>;
