import { readFile } from 'node:fs/promises';
import { invalidParameters, type RpcParams } from '../http/model-context.ts';
import { documentedOperations } from '../site/docs/operations.ts';
import { withAddress } from '../site/docs/own-address.ts';

/** What developers read: the guides, and the reference of the API. Nothing in them belongs to a shop. */

const GUIDES = 'kontor://guides/';
const REFERENCE = 'kontor://reference';
const MARKDOWN = 'text/markdown';

/** No guide comes near it. */
const MAX_TEXT = 100_000;
/** An operation with the schemas that it names. */
const MAX_OPERATION = 60_000;

export async function listResources(): Promise<object> {
  const guides = await loadGuides();
  return {
    resources: [
      {
        uri: REFERENCE,
        name: 'reference',
        title: 'Operations of the API',
        description:
          'All operations with their addresses. Each is described at kontor://reference/{operation}.',
        mimeType: MARKDOWN,
      },
      ...[...guides].map(([file, { title }]) => ({
        uri: GUIDES + file,
        name: file,
        title,
        mimeType: MARKDOWN,
      })),
    ],
  };
}

export const listTemplates = async () => ({
  resourceTemplates: [
    {
      uriTemplate: `${REFERENCE}/{operation}`,
      name: 'operation',
      title: 'Operation of the API',
      description: 'Its parameters, body, answers and examples, as OpenAPI describes them.',
      mimeType: 'application/json',
    },
  ],
});

export async function readResource({ uri }: RpcParams, origin: string): Promise<object> {
  const found = typeof uri === 'string' ? await contentOf(uri, origin) : undefined;
  if (!found) throw invalidParameters('Resource not found', { uri });
  return { contents: [{ uri, ...found }] };
}

async function contentOf(
  uri: string,
  origin: string,
): Promise<{ mimeType: string; text: string } | undefined> {
  if (uri === REFERENCE) return { mimeType: MARKDOWN, text: await referenceText() };
  if (uri.startsWith(GUIDES)) {
    const guide = (await loadGuides()).get(uri.slice(GUIDES.length));
    return guide && { mimeType: MARKDOWN, text: withAddress(guide.markdown, origin).slice(0, MAX_TEXT) };
  }
  if (!uri.startsWith(`${REFERENCE}/`)) return undefined;
  const operation = await operationText(uri.slice(REFERENCE.length + 1));
  return operation === undefined ? undefined : { mimeType: 'application/json', text: operation };
}

type Guides = ReadonlyMap<string, { title: string; markdown: string }>;

/** Read once: the guides never change while the program runs. */
let guides: Promise<Guides> | undefined;

const loadGuides = () => (guides ??= readGuides());

/** Few installations ask for them, and a service that starts should not wait for what reads Markdown. */
async function readGuides(): Promise<Guides> {
  const { listGuides } = await import('../site/docs/guides.ts');
  return new Map((await listGuides()).map(({ file, ...guide }) => [file, guide]));
}

async function referenceText(): Promise<string> {
  const operations = await documentedOperations();
  const groups = [...new Set(operations.map(({ group }) => group))];
  return groups
    .flatMap((group) => [
      `## ${group}`,
      '',
      ...operations
        .filter((operation) => operation.group === group)
        .map(({ name, method, path, summary }) => `- ${name}: ${method} ${path} (${summary})`),
      '',
    ])
    .join('\n');
}

type Schemas = Record<string, unknown>;

interface OpenApi {
  paths: Record<string, Record<string, { operationId?: string }>>;
  components: { schemas: Schemas; parameters: Schemas };
}

/** At the root, where the compiled program finds it as well. */
const DOCUMENT = new URL('../../openapi.json', import.meta.url);

let document: Promise<OpenApi> | undefined;

const loadDocument = () =>
  (document ??= readFile(DOCUMENT, 'utf8').then((text) => JSON.parse(text) as OpenApi));

/** An operation as OpenAPI describes it, with the components that it names, as far as they fit. */
async function operationText(name: string): Promise<string | undefined> {
  const { paths, components } = await loadDocument();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation.operationId !== name) continue;
      const described = { method: method.toUpperCase(), path, ...operation };
      return JSON.stringify({ ...described, components: componentsOf(described, components) }, null, 1);
    }
  }
  return undefined;
}

const REFERENCES = /"#\/components\/(schemas|parameters)\/([\w.-]+)"/g;

function componentsOf(operation: object, all: OpenApi['components']): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const open = [JSON.stringify(operation)];
  let length = 0;
  for (let text = open.shift(); text !== undefined; text = open.shift()) {
    for (const [, kind, name] of text.matchAll(REFERENCES)) {
      const component = all[kind as 'schemas' | 'parameters'][name!];
      const key = `${kind}/${name}`;
      const written = JSON.stringify(component) ?? '';
      if (Object.hasOwn(found, key) || length + written.length > MAX_OPERATION) continue;
      found[key] = component;
      length += written.length;
      open.push(written);
    }
  }
  return found;
}
