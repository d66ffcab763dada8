/// <reference types="@fastify/swagger" />
import type { FastifyInstance } from 'fastify';

/** An operation of the API, as far as lists and the search show it. */
export interface DocumentedOperation {
  name: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** Where the reference shows it. */
  url: string;
}

type Documented = Record<
  string,
  { operationId: string; summary: string; description: string; tags: string[] }
>;

export function documentedOperations(app: FastifyInstance): DocumentedOperation[] {
  const { paths } = app.swagger() as unknown as { paths: Record<string, Documented> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: name, summary, description, tags }]) => {
      const tag = tags[0]!;
      return {
        name,
        method: method.toUpperCase(),
        path,
        tag,
        summary,
        description,
        url: `/docs/reference#tag/${tag}/${name}`,
      };
    }),
  );
}
