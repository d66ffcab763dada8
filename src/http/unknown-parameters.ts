import type { FastifyReply, FastifyRequest } from 'fastify';
import { suggestion } from '../kernel/suggestion.ts';
import type { DemoAccess } from './demo-access.ts';
import { headerText } from './header-text.ts';

const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 50;

/**
 * Names the query parameters that an operation does not know, in a header. They are ignored, as old clients expect, so
 * a developer who misspells one would search for long. Only while demo access is open: a service for others answers
 * without it.
 */
export function unknownParameterHook(known: readonly string[], demoAccess: DemoAccess) {
  const names: ReadonlySet<string> = new Set(known);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (demoAccess.isOpen()) {
      const unknown = Object.keys(request.query as object).filter((name) => !names.has(name));
      if (unknown.length > 0) reply.header('x-warning', headerText(warningOf(unknown, known)));
    }
    done();
  };
}

function warningOf(unknown: readonly string[], known: readonly string[]): string {
  const named = unknown.slice(0, MAX_NAMED).map((name) => {
    const shown = name.slice(0, MAX_NAME_LENGTH);
    return `unknown query parameter ${shown}${suggestion(shown, known)}`;
  });
  return named.join('; ');
}
