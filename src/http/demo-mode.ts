import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isDemo, type Config } from '../config.ts';
import { Refusal } from './errors.ts';
import { needsCartToken } from './scopes.ts';

/*
 * A demo that strangers may use (KONTOR_DEMO=1). It has two shops with the same sample data: in one of them everybody may
 * buy, and only the admin of the other one can be opened. So no visitor sees what another one has typed, and no
 * visitor changes what another one sees. Both are deleted and created again at every full hour.
 */

/** The shop in which visitors buy. Its admin is closed. */
export const DEMO_SHOP = 'DemoShop';

/** The shop whose admin visitors see. They cannot buy or change anything in it. */
export const DEMO_OFFICE = 'DemoOffice';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The full hour for which the shops of the demo are the right ones. */
export const demoHour = (now: Date) => new Date(now.getTime() - (now.getTime() % HOUR));

/** Minutes until the next reset, 1 to 60. */
export const minutesToReset = (now: Date) => Math.ceil((HOUR - (now.getTime() % HOUR)) / MINUTE);

/** Seconds after which a visitor who comes during a reset should try again. */
export const RESET_SECONDS = 5;

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Visitors begin a session of the admin, and end it. */
const ADMIN_FORMS = /^\/admin\/sign-(?:in|out)(?:\/|$)/;

/**
 * Whether a demo refuses the request: everything that writes, but for what visitors do in the shop where they buy. A
 * route that is not listed here is refused too.
 */
export function isRefusedInDemo({ method, routeOptions, params, is404 }: FastifyRequest): boolean {
  if (is404 || READS.includes(method)) return false;
  const { url = '' } = routeOptions;
  const { operation } = routeOptions.config;
  if (url.startsWith('/admin/')) return !ADMIN_FORMS.test(url);
  if (operation && !operation.writes) return false;
  if ((params as { shopId?: string }).shopId !== DEMO_SHOP) return true;
  if (operation) return operation.name !== 'createCart' && !needsCartToken(operation.access);
  return !url.startsWith('/shop/:shopId');
}

/** The one place that makes a service a demo: it refuses changes, and keeps search engines out. */
export function registerDemoMode(app: FastifyInstance, config: Config): void {
  if (!isDemo(config)) return;
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-robots-tag', 'noindex');
  });
  // After the caller is known, who is told first when a token is wrong, and before the body is read.
  app.addHook('preParsing', async (request) => {
    if (isRefusedInDemo(request)) throw new Refusal('DEMO_READ_ONLY');
  });
}
