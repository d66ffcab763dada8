import { appLabel, type InstalledApp } from '../../apps/manifest/installed.ts';
import { inLanguage, type StorefrontEntry } from '../../apps/manifest/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

/** A block of an app in the storefront. */
export interface AppBlock {
  app: InstalledApp;
  entry: StorefrontEntry;
}

/** The block of a page, by the host of its app and its name; undefined: no installed app has it. */
export function findAppBlock(apps: readonly InstalledApp[], block: string): AppBlock | undefined {
  const [host, name] = block.split('/');
  const app = apps.find((one) => one.host === host);
  const entry = app?.storefrontBlocks.find((one) => one.place === 'page' && one.name === name);
  return app && entry && { app, entry };
}

/** The blocks that apps have on all pages of products. */
export function productBlocks(apps: readonly InstalledApp[]): AppBlock[] {
  return apps.flatMap((app) =>
    app.storefrontBlocks.filter(({ place }) => place === 'product').map((entry) => ({ app, entry })),
  );
}

/**
 * A block of an app. Like a video it is loaded when the visitor asks for it, which is the consent, and so a slow app keeps
 * nothing waiting; without scripts, the link leads there. Its address tells the shop, the language and the product, and
 * nothing about the visitor.
 */
export function appFrame(visit: Visit, { app, entry }: AppBlock, productId?: string): Markup {
  const language = visit.locale.slice(0, 2);
  const messages = messagesIn(visit.locale).storefront.content;
  const title = inLanguage(entry.title, language === 'de' || language === 'fr' ? language : 'en');
  const label = appLabel(app);
  const url = new URL(entry.url);
  url.searchParams.set('shop', visit.shopId);
  url.searchParams.set('locale', visit.locale);
  if (productId !== undefined) url.searchParams.set('productId', productId);
  return html`<section class="app-block">
    <h2>${title}</h2>
    <div data-app-frame>
      <a
        class="button"
        href="${url.href}"
        rel="noopener noreferrer"
        data-app-block="${label}"
        data-title="${title}: ${label}"
        data-height="${entry.height}"
        >${messages.openApp}<span class="visually-hidden">: ${title}</span></a
      >
    </div>
    <p><small>${messages.appNote({ app: label })}</small></p>
  </section>`;
}

/** The origins that frames of these blocks come from. */
export const originsOf = (blocks: readonly AppBlock[]) => [...new Set(blocks.map(({ app }) => app.origin))];
