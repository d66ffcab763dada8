import { Type } from 'typebox';
import type { InstalledApp } from '../../apps/manifest/installed.ts';
import { tokenTimes } from '../../apps/manifest/install.ts';
import { inLanguage, MAX_ACTION_ORDERS, PLACES, type BlockPlace } from '../../apps/manifest/schema.ts';
import { currentSigningKey, signToken } from '../../apps/manifest/signing-keys.ts';
import { badRequest, forbidden, notFound, tooManyRequests } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import type { FormRequest, PageRequest } from '../../http/page-kit.ts';
import { declareForm, optionsOf, readFields } from '../components/declared-form.ts';
import { appMenuEntry } from '../layout/menu.ts';
import type { AdminFile } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { findOrdersByText } from '../search/queries.ts';
import { findProductHits } from '../search/search.ts';
import type { Permission } from '../users/permissions.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { framesOf } from './frames.ts';
import { findThings } from './queries.ts';

const PAGE_HEIGHT = 600;
const MAX_TEXT_LENGTH = 100;
/** A frame asks for one every half minute. */
const TOKENS_PER_HOUR = 2_000;

/** Whose thing a block is about needs the permission to see it. */
const PERMISSIONS: Readonly<Record<BlockPlace, Permission>> = {
  order: 'orders_read',
  product: 'products_read',
  customer: 'customers_read',
  settings: 'settings_read',
};

/** What a frame asks a token for: a page of the app, and the things that it is shown with. */
const SHOWN = declareForm(
  {
    body: Type.Object({
      kind: Type.String({ maxLength: 10 }),
      name: Type.String({ maxLength: 40 }),
      id: Type.Array(Type.String({ maxLength: 36 }), { maxItems: MAX_ACTION_ORDERS }),
    }),
  },
  () => ({
    kind: { kind: 'hidden', label: '' },
    name: { kind: 'hidden', label: '' },
    id: { kind: 'ticks', label: '' },
  }),
);

/** The pages of apps, and what their frames ask for. */
export function framePages(pages: ShopPages): void {
  pages.get('/apps/:appId/pages/:name', 'member', async (visit, request) => {
    const app = requireInstalled(visit, request);
    const entry = app.pages.find(({ name }) => name === request.params['name']);
    if (!entry) throw notFound();
    const framed = framesOf(visit, [{ app, entry, kind: 'page', ids: [], height: PAGE_HEIGHT }]);
    return {
      title: inLanguage(entry.title, visit.language),
      menu: appMenuEntry(app, entry),
      main: html`${framed.markup}`,
      frames: framed.frames,
      scripts: framed.scripts,
    };
  });

  pages.get('/apps/:appId/actions/:name', 'orders_read', async (visit, request) => {
    const messages = visit.messages.appFrames;
    const app = requireInstalled(visit, request);
    const entry = app.actions.find(({ name }) => name === request.params['name']);
    if (!entry) throw notFound();
    const chosen = distinctIds(request.queryList('id'));
    if (chosen.length > entry.maxOrders) throw badRequest(messages.tooMany({ count: entry.maxOrders }));
    const ids = await findThings(visit.db, visit.shopId, 'order', chosen);
    const framed =
      ids.length === 0
        ? undefined
        : framesOf(visit, [{ app, entry, kind: 'action', ids, height: PAGE_HEIGHT }]);
    return {
      title: inLanguage(entry.title, visit.language),
      menu: 'orders',
      breadcrumbs: [
        { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
        ...(ids.length === 1
          ? [{ href: adminPath(visit, `/orders/${ids[0]}`), text: messages.backToOrder }]
          : []),
      ],
      main: framed
        ? html`<p>${messages.chosenOrders({ count: ids.length })}</p>
            ${framed.markup}`
        : html`<p class="list empty">${messages.noOrders}</p>`,
      ...(framed && { frames: framed.frames, scripts: framed.scripts }),
    };
  });

  pages.post(
    '/apps/:appId/token',
    'member',
    async (visit, form) => {
      const app = requireInstalled(visit, form);
      const shown = await shownPage(visit, app, form);
      if (!(await form.isWithinLimit(`app-token/${visit.user.userId}`, TOKENS_PER_HOUR))) {
        throw tooManyRequests(TOKENS_PER_HOUR, 60);
      }
      const times = tokenTimes(visit.db.serviceNow);
      const token = signToken(await currentSigningKey(visit.db, visit.key), {
        iss: visit.origin,
        aud: app.appId,
        sub: visit.user.userId.toUpperCase(),
        shop: visit.shopId,
        role: visit.role,
        ...shown,
        ...times,
      });
      return json({ token, expiresIn: times.exp - times.iat });
    },
    optionsOf(SHOWN),
  );

  pages.file('/apps/pick', 'member', async (visit, request) => {
    const text = (request.query('q') ?? '').trim().slice(0, MAX_TEXT_LENGTH);
    const isOfOrders = request.query('kind') === 'order';
    requirePermission(visit, isOfOrders ? 'orders_read' : 'products_read');
    return json({ items: text === '' ? [] : await (isOfOrders ? ordersFor : productsFor)(visit, text) });
  });
}

/** What the frame is about, by what the app was agreed to show. Names of people are in no token. */
async function shownPage(
  visit: ShopVisit,
  app: InstalledApp,
  form: FormRequest,
): Promise<{ page: string; place: string; ids?: string[] }> {
  const { kind, name: page, id } = readFields(SHOWN, form, visit);
  if (kind === 'page' && app.pages.some(({ name }) => name === page)) return { page, place: 'menu' };
  const action = app.actions.find(({ name }) => kind === 'action' && name === page);
  const block = app.blocks.find(({ name }) => kind === 'block' && name === page);
  const place = action ? 'order' : PLACES.find((one) => one === block?.place);
  if (!place) throw notFound();
  requirePermission(visit, PERMISSIONS[place]);
  if (place === 'settings') return { page, place };
  const chosen = distinctIds(id);
  const ids = await findThings(visit.db, visit.shopId, place, chosen.slice(0, (action?.maxOrders ?? 1) + 1));
  if (ids.length === 0 || ids.length !== chosen.length || ids.length > (action?.maxOrders ?? 1))
    throw notFound();
  return { page, place: action ? 'orders' : place, ids };
}

function requireInstalled(visit: ShopVisit, { params }: Pick<PageRequest, 'params'>): InstalledApp {
  const app = visit.apps.find(({ appId }) => appId === params['appId']?.toUpperCase());
  if (!app) throw notFound();
  return app;
}

function requirePermission(visit: ShopVisit, permission: Permission): void {
  if (visit.may(permission)) return;
  throw forbidden(visit.messages.layout.missingPermission({ role: visit.messages.roles[visit.role] }));
}

const distinctIds = (ids: readonly string[]) => [...new Set(ids.filter(isId).map((id) => id.toUpperCase()))];

const json = (value: object): AdminFile => ({ type: 'application/json', content: JSON.stringify(value) });

async function productsFor(visit: ShopVisit, text: string) {
  const found = await findProductHits(visit, text);
  return found.map(({ productId, text: name, note: number = '' }) => ({ id: productId, name, number }));
}

async function ordersFor(visit: ShopVisit, text: string) {
  const found = await findOrdersByText(visit.db, visit.shopId, text);
  return found.map(({ orderId, orderNumber, name }) => ({ id: orderId, name, number: orderNumber }));
}
