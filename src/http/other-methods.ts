import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication } from './authentication.ts';
import { methodNotAllowed, notFound } from './errors.ts';
import { createPathTable } from './path-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where the path of the request has operations, and none of them has its method. */
    operationPath: OperationPath | undefined;
  }
}

interface OperationPath {
  /** Its pattern. */
  url: string;
  methods: Set<string>;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Any other one is unknown to the service. */
const ANSWERED: ReadonlySet<string> = new Set([...METHODS, 'HEAD', 'OPTIONS']);

const PREFLIGHT = {
  'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
  'access-control-allow-headers':
    'accept, authorization, content-type, x-epages-cart-token, idempotency-key, if-match, if-none-match',
  'access-control-max-age': '3628800',
};

/**
 * Answers the methods that a path with operations does not have: 405 with Allow, and OPTIONS. They have no routes, which
 * would take as long to register as the operations: a request that reaches no route is looked up here.
 */
export function createOtherMethods(authentication: Authentication) {
  const paths = new Map<string, OperationPath>();
  const table = createPathTable<OperationPath>();
  const countShopCall = authentication.hookFor('public', 'json');
  const countHostCall = authentication.hookFor('public', 'json', true);

  /** Counted like any call, and refused before the body is read. */
  const refuse = (
    path: OperationPath,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error: Error) => void,
  ) => {
    const count = path.url.startsWith('/host') ? countHostCall : countShopCall;
    count(request, reply, (error) => done(error ?? methodNotAllowed(methodsOf(path).join(','))));
  };

  return {
    add(url: string, method: string): void {
      let path = paths.get(url);
      if (!path) {
        path = { url, methods: new Set() };
        paths.set(url, path);
        table.add(url, path);
      }
      path.methods.add(method);
    },

    /** For a request without a route, before all other hooks. */
    findPath(request: FastifyRequest): void {
      const found = ANSWERED.has(request.method) ? table.find(request.url) : undefined;
      if (!found) return;
      request.operationPath = found.value;
      request.params = found.params;
    },

    /** Ends a request without a route, unless `sendOptions` answers it. */
    refuseUnrouted(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const { method, operationPath } = request;
      if (!operationPath) authentication.rejectUnknownRoute(request, reply).catch(done);
      else if (method === 'OPTIONS') done();
      else refuse(operationPath, request, reply, done);
    },

    sendOptions({ operationPath }: FastifyRequest, reply: FastifyReply): FastifyReply {
      const methods = methodsOf(operationPath!);
      return reply
        .code(200)
        .headers({ ...PREFLIGHT, allow: methods.join(',') })
        .type('text/plain')
        .send(methods.join(', '));
    },

    /**
     * After all operations. `DELETE /widgets/export` would reach the operation of `/widgets/:widgetId`: only such methods
     * get a route.
     */
    registerHidden(app: FastifyInstance): void {
      const routed = (path: OperationPath): string[] => [
        ...path.methods,
        ...table.findAfter(path.url).flatMap(routed),
      ];
      for (const path of paths.values()) {
        const methods = routed(path);
        const hidden = METHODS.filter((method) => !path.methods.has(method) && methods.includes(method));
        if (hidden.length === 0) continue;
        app.route({
          method: hidden,
          url: path.url,
          schema: { hide: true },
          onRequest: (request, reply, done) => refuse(path, request, reply, done),
          handler: () => notFound(),
        });
      }
    },
  };
}

export type OtherMethods = ReturnType<typeof createOtherMethods>;

function methodsOf({ methods }: OperationPath): string[] {
  const own = METHODS.filter((method) => methods.has(method));
  return [...(methods.has('GET') ? ['HEAD'] : []), ...own, 'OPTIONS'];
}
