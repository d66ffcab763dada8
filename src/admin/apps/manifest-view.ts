import type { ManifestRow } from '../../apps/manifest/queries.ts';
import { inLanguage, type AppCall, type Manifest } from '../../apps/manifest/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { amountText } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import { scopeLists } from './parts.ts';

/** What an app will see and do in the shop, in plain words. */
export function manifestLists(visit: ShopVisit, manifest: Manifest): Markup {
  const messages = visit.messages.apps;
  const { adds } = messages;
  const title = (entry: { title: Parameters<typeof inLanguage>[0] }) =>
    inLanguage(entry.title, visit.language);
  const added = [
    ...manifest.pages.map((entry) => adds.page({ title: title(entry) })),
    ...manifest.blocks.map((entry) => adds.block({ title: title(entry), place: adds.places[entry.place] })),
    ...manifest.actions.map((entry) => adds.action({ title: title(entry) })),
    ...(manifest.paymentMethods ?? []).map((entry) => adds.payment({ title: title(entry) })),
  ];
  const inShop = (manifest.storefrontBlocks ?? []).map((entry) =>
    adds.block({ title: title(entry), place: adds.storefrontPlaces[entry.place] }),
  );
  const told = [...new Set(manifest.webhooks.map(({ eventType }) => eventType))];
  return html`${scopeLists(visit, manifest.scopes)}
  ${manifest.scopes.length === 0 && html`<p>${messages.noScopes}</p>`} ${list(adds.title, added)}
  ${list(adds.storefront, inShop)}
  ${list(
    messages.isTold,
    told.map((eventType) => html`<code>${eventType}</code>`),
  )}
  ${list(
    messages.asked.title,
    manifest.calls.map((call) => `${messages.asked[call.kind]}. ${withoutAnswer(visit, call)}`),
  )}`;
}

/** What happens when the app does not answer. */
export function withoutAnswer(visit: ShopVisit, { kind, onFailure }: AppCall): string {
  const { without } = visit.messages.apps.asked;
  if (typeof onFailure === 'object') return without.price({ price: amountText(onFailure.price, visit) });
  if (kind === 'deliveryOptions') return onFailure === 'hide' ? without.hide : without.refuseDelivery;
  if (kind === 'payment') return without.unpaid;
  if (onFailure === 'refuse') return without.refuse;
  if (kind === 'linePrices') return without.ownPrices;
  return kind === 'taxes' ? without.ownTaxes : without.accept;
}

const list = (title: string, items: readonly (string | Markup)[]) =>
  items.length > 0 &&
  html`<div>
    <h3>${title}</h3>
    <ul class="rights">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
  </div>`;

/** The icon, the host and what the app says of itself. Anybody can call an app anything, but not its host. */
export function appHead(
  visit: ShopVisit,
  { icon, address }: Pick<ManifestRow, 'icon' | 'address'>,
  { description }: Manifest,
): Markup {
  return html`<div class="app-head">
    ${
      icon &&
      html`<img src="data:image/png;base64,${icon.toString('base64')}" alt="" width="48" height="48" />`
    }
    <div>
      <p>${visit.messages.apps.fromHost({ host: new URL(address).host })}</p>
      ${description && html`<p class="quiet">${inLanguage(description, visit.language)}</p>`}
    </div>
  </div>`;
}
