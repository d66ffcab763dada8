import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Another app, which has the routes, and whatever else is made with it. */
interface Deferred {
  instance: FastifyInstance;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Opens the app that answers instead of this one. */
    deferredTo?: () => Promise<Deferred>;
  }
}

/** Whether another app answers: it measures, logs and traces the request, so this one must not. */
export function isDeferred({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.deferredTo !== undefined;
}

/**
 * Hands all requests for these addresses to another app, which is made when the first of them comes: routes that most
 * processes never need then cost neither time at the start nor memory. Must come before the hooks of `app`, so that none
 * of those that begin with a request runs; those that end one ask `isDeferred`.
 */
export function deferRoutes<Made extends Deferred>(
  app: FastifyInstance,
  addresses: readonly string[],
  make: () => Promise<Made>,
) {
  let making: Promise<Made> | undefined;
  const open = () =>
    (making ??= make().catch((error: unknown) => {
      making = undefined;
      throw error;
    }));
  app.addHook('onRequest', (request, reply, done) => {
    if (!isDeferred(request)) {
      done();
      return;
    }
    // The body has not been read yet: the other app does.
    request.routeOptions.config.deferredTo!().then(({ instance }) => {
      reply.hijack();
      instance.routing(request.raw, reply.raw);
    }, done);
  });
  for (const url of addresses) {
    app.route({
      method: ['GET', 'POST'],
      url,
      config: { deferredTo: open },
      handler: (_request, reply) => reply,
    });
  }
  return {
    open,
    async close(): Promise<void> {
      await (await making)?.instance.close();
    },
  };
}
