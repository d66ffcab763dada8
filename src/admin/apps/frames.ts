import { appLabel, type InstalledApp } from '../../apps/manifest/installed.ts';
import { inLanguage, type ManifestEntry, type BlockPlace } from '../../apps/manifest/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { APPS_SCRIPT, type Asset } from '../layout/assets.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

/** A page of an app, as a frame shows it. */
export interface FrameEntry {
  app: InstalledApp;
  entry: ManifestEntry;
  kind: 'page' | 'block' | 'action';
  /** What it is about: the orders of an action, the product of a block. */
  ids: readonly string[];
  /** In pixels, until the app says another one. */
  height: number;
}

/** What a page with frames of apps adds to an AdminPage. */
interface Framed {
  markup: Markup | false;
  frames: string[];
  scripts: Asset[];
}

/**
 * The frames of apps. They are loaded by a script after the page itself, so that a slow app keeps nothing waiting. The
 * address of a frame holds nothing about its reader: the app gets a token through the bridge (assets/admin-apps.js).
 */
export function framesOf(visit: ShopVisit, entries: readonly FrameEntry[]): Framed {
  if (entries.length === 0) return { markup: false, frames: [], scripts: [] };
  return {
    markup: html`${entries.map((entry) => frameCard(visit, entry))}`,
    frames: [...new Set(entries.map(({ app }) => app.origin))],
    scripts: [APPS_SCRIPT],
  };
}

/** The blocks that the apps of the shop have for a page. */
export function blocksOf(visit: ShopVisit, place: BlockPlace, ids: readonly string[] = []): Framed {
  const entries = visit.apps.flatMap((app) =>
    app.blocks
      .filter((block) => block.place === place)
      .map((entry) => ({ app, entry, kind: 'block' as const, ids, height: entry.height })),
  );
  return framesOf(visit, entries);
}

/** What apps do with orders: the page of each, which gets the ids of the orders. */
export function orderActionsOfApps(visit: ShopVisit): { text: string; path: string; maxOrders: number }[] {
  return visit.apps.flatMap((app) =>
    app.actions.map(({ name, title, maxOrders }) => ({
      text: `${inLanguage(title, visit.language)} (${app.host})`,
      path: `/apps/${app.appId}/actions/${name}`,
      maxOrders,
    })),
  );
}

function frameCard(visit: ShopVisit, { app, entry, kind, ids, height }: FrameEntry): Markup {
  const messages = visit.messages.appFrames;
  const title = inLanguage(entry.title, visit.language);
  const label = appLabel(app);
  return html`<section
    class="card app-frame"
    data-app-frame
    data-src="${entry.url}"
    data-origin="${app.origin}"
    data-title="${title}: ${label}"
    data-app="${label}"
    data-height="${height}"
    data-kind="${kind}"
    data-name="${entry.name}"
    data-ids="${ids.join(' ')}"
    data-language="${visit.language}"
    data-base="${visit.base}"
    data-token="${adminPath(visit, `/apps/${app.appId}/token`)}"
    data-pick="${adminPath(visit, '/apps/pick')}"
    data-slow="${messages.slow({ app: label })}"
    data-ended="${messages.ended}"
    data-choose-product="${messages.chooseProduct({ app: label })}"
    data-choose-order="${messages.chooseOrder({ app: label })}"
    data-search="${messages.search}"
    data-close="${messages.close}"
    data-done="${messages.done}"
  >
    ${kind !== 'page' && html`<h2>${title}</h2>`}
    <p class="quiet">${messages.from({ app: label })}</p>
    <p class="quiet" data-frame-status role="status"></p>
    <noscript><p class="quiet">${messages.needsScripts}</p></noscript>
  </section>`;
}
