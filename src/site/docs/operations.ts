import { readFile } from 'node:fs/promises';

/** At the root, where the compiled program finds it as well. */
const FILE = new URL('../../../schema/operations.json', import.meta.url);

/** An operation of the API, with the fields that lists and the search show. */
export interface DocumentedOperation {
  name: string;
  method: string;
  path: string;
  tag: string;
  /** The name of the tag for people. */
  group: string;
  summary: string;
  description: string;
  /** Where the reference shows it. */
  url: string;
}

type Documented = Record<
  string,
  { operationId: string; summary: string; description: string; tags: string[] }
>;

/** The operations of an OpenAPI document, in its order. */
export function operationsOf({
  paths,
  tags: groups,
}: {
  paths: Record<string, Documented>;
  tags: { name: string; 'x-displayName': string }[];
}): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: name, summary, description, tags }]) => {
      const tag = tags[0]!;
      return {
        name,
        method: method.toUpperCase(),
        path,
        tag,
        group: groups.find((group) => group.name === tag)!['x-displayName'],
        summary,
        description,
        url: `/docs/reference#tag/${tag}/${name}`,
      };
    }),
  );
}

/** Reads the list that `npm run generate` writes: parsing the whole API document would delay other requests. */
export async function documentedOperations(): Promise<DocumentedOperation[]> {
  return JSON.parse(await readFile(FILE, 'utf8')) as DocumentedOperation[];
}
