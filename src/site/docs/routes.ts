import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import { unlessKnown } from '../../http/answer-headers.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { originOf } from '../../http/links.ts';
import { newPauses } from '../../http/pauses.ts';
import type { Guides } from './guides.ts';
import {
  DOCS_CONTENT_SECURITY_POLICY,
  guidePage,
  lists,
  docsNotFoundPage,
  SCRIPT,
  STYLESHEET,
} from './layout.ts';
import { escapeHtml } from '../../http/html.ts';
import { llmsText } from './llms.ts';
import { withAddress } from './own-address.ts';
import { documentedOperations } from './operations.ts';
import { referenceRoutes } from './reference.ts';
import { searchEntries } from './search.ts';
import { assetRoutes } from '../../http/assets.ts';

const HIDDEN = { schema: { hide: true } };

/**
 * The documentation: the guides of `docs/`, the API reference beside them, and a search over both. It contains no shop
 * data.
 */
export async function docsRoutes(
  app: FastifyInstance,
  { config, demoAccess }: { config: Config; demoAccess: DemoAccess },
): Promise<void> {
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  let loading: Promise<Documentation> | undefined;
  const load = () => (loading ??= loadDocumentation());

  assetRoutes(app, [STYLESHEET, SCRIPT]);
  await referenceRoutes(app, demoAccess);

  const sendGuide = async (path: string, request: FastifyRequest, reply: FastifyReply) => {
    const { guides, pages, sources, notFound } = await load();
    const origin = originOf(request, publicUrl);
    const file = path.slice('/docs/'.length);
    const markdown = sources.get(file);
    if (markdown !== undefined) {
      return sendText(request, reply, { type: 'text/markdown', text: withAddress(markdown, origin) });
    }
    if (guides.pictures.has(file)) {
      const { readPicture } = await import('./guides.ts');
      return reply
        .type('image/png')
        .header('cache-control', 'max-age=3600')
        .send(await readPicture(file));
    }
    const page = pages.get(path);
    if (page === undefined) reply.code(404);
    return sendText(request, reply, {
      type: 'text/html',
      text: withAddress(page ?? notFound, escapeHtml(origin)),
    });
  };

  app.get('/docs', HIDDEN, (request, reply) => sendGuide('/docs', request, reply));
  app.get<{ Params: { '*': string } }>('/docs/*', HIDDEN, (request, reply) =>
    sendGuide(`/docs/${request.params['*']}`, request, reply),
  );
  app.get('/docs/search.json', HIDDEN, async (request, reply) =>
    sendText(request, reply, {
      type: 'application/json',
      // An origin has no character that JSON would escape.
      text: withAddress((await load()).search, originOf(request, publicUrl)),
    }),
  );
  app.get('/llms.txt', HIDDEN, async (request, reply) => {
    const text = llmsText(originOf(request, publicUrl), (await load()).guides);
    return sendText(request, reply, { type: 'text/plain', text });
  });
}

interface Documentation {
  guides: Guides;
  /** The pages by address, with marks for the address of this server. */
  pages: ReadonlyMap<string, string>;
  /** The guides as they were written, by file, with the same marks. */
  sources: ReadonlyMap<string, string>;
  notFound: string;
  search: string;
}

/**
 * Created on the first request, so that the start need not wait for it, in steps between which other requests are
 * served. It never changes while the program runs.
 */
async function loadDocumentation(): Promise<Documentation> {
  const { loadGuides } = await import('./guides.ts');
  const guides = await loadGuides();
  const operations = await documentedOperations();
  const pause = newPauses();
  const pages = new Map<string, string>();
  for (const guide of guides.pages) {
    await pause();
    const below = guide === guides.index ? lists(operations, guides.decisions) : undefined;
    pages.set(guide.url, guidePage(guide, guides, below));
  }
  await pause();
  return {
    guides,
    pages,
    sources: new Map(guides.pages.map(({ file, markdown }) => [file, markdown])),
    notFound: docsNotFoundPage(guides),
    search: JSON.stringify(searchEntries(guides, operations)),
  };
}

function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, text }: { type: string; text: string },
): FastifyReply {
  reply
    .type(`${type}; charset=utf-8`)
    .headers({ 'cache-control': 'no-cache', 'content-security-policy': DOCS_CONTENT_SECURITY_POLICY });
  const bytes = Buffer.from(text);
  return reply.send(reply.statusCode === 200 ? unlessKnown(request, reply, bytes) : bytes);
}
