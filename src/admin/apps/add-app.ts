import { Type } from 'typebox';
import { fetchManifest, type FetchDeps } from '../../apps/manifest/fetch-manifest.ts';
import { addApp, agree } from '../../apps/manifest/install.ts';
import { manifestAddress } from '../../apps/manifest/manifest.ts';
import { findManifest, lockManifest, type ManifestRow } from '../../apps/manifest/queries.ts';
import { readAgain } from '../../apps/manifest/worker.ts';
import { html } from '../../http/html.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { Redirect } from '../../http/page-kit.ts';
import { requireFeature } from '../../platform/plans/limits.ts';
import { declareForm, optionsOf, readChecked, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { redirectWithNotice } from '../refused-button.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appHead, manifestLists } from './manifest-view.ts';
import { appsStep, onForm } from './parts.ts';
import { requireApp } from './require-app.ts';

/** Readings per hour and shop: each calls the machine of a stranger. */
const READINGS_PER_HOUR = 60;

const ADDRESS = declareForm(
  { body: Type.Object({ address: Type.String({ minLength: 1, maxLength: 1_000 }) }) },
  ({ apps: messages }) => ({
    address: {
      label: messages.address,
      hint: messages.addressHint,
      isRequired: true,
      placeholder: 'labels.example',
    },
  }),
);

/** Apps that describe themselves by a manifest at their address: adding them, and their updates. */
export function addingApps(pages: ShopPages, deps: FetchDeps): void {
  pages.form(
    '/apps/add',
    { read: 'apps_write', write: 'apps_write' },
    {
      show: async (visit, _request, draft) => {
        const messages = visit.messages.apps;
        return {
          title: messages.add,
          menu: 'apps',
          breadcrumbs: [appsStep(visit)],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)}
            <p>${messages.addIntro}</p>
            ${showFields(ADDRESS, visit, { draft })('address')}
            <button class="main">${messages.addSubmit}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key } = visit;
        const { address: typed } = readChecked(ADDRESS, form, visit);
        const appId = await onForm(visit, async () => {
          const address = manifestAddress(typed);
          await requireReadings(visit, form);
          const read = await fetchManifest(deps, address);
          return db.transaction(async (tx) => {
            await requireFeature({ db: tx, config: visit.config }, shopId, 'apps');
            const added = await addApp(tx, { ...deps, key }, shopId, { ...read, address: address.href });
            await recordAction(tx, visit, '/apps/add', { appId: added });
            return added;
          });
        });
        const row = await findManifest(db, shopId, appId);
        const next = row?.offered && row.agreed ? 'update' : 'install';
        return new Redirect(adminPath(visit, `/apps/${appId}/${next}`));
      },
    },
    optionsOf(ADDRESS),
  );

  pages.post('/apps/:appId/read', 'apps_write', async (visit, form) => {
    const { db, shopId, key, messages } = visit;
    const { appId } = await requireApp(visit, form);
    const row = await findManifest(db, shopId, appId);
    if (!row?.agreed) throw notFound();
    const path = adminPath(visit, `/apps/${appId}`);
    return redirectWithNotice(visit, path, async () => {
      await requireReadings(visit, form);
      const waits = await onForm(visit, () =>
        readAgain({ ...deps, db, loadKey: async () => key }, shopId, appId, row.address),
      );
      return { text: waits ? messages.apps.updateWaits : messages.apps.upToDate };
    });
  });

  pages.form(
    '/apps/:appId/update',
    { read: 'apps_write', write: 'apps_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.apps;
        const { app, row, offered } = await requireOffer(visit, request);
        return {
          title: messages.updateTitle({ name: app.name }),
          menu: 'apps',
          breadcrumbs: [appsStep(visit), { href: adminPath(visit, `/apps/${app.appId}`), text: app.name }],
          main: html`<form method="post" class="card prose consent">
            ${problemOf(draft)} ${versionField(offered)} ${appHead(visit, row, offered)}
            <p>${messages.updateText({ name: offered.name })}</p>
            ${manifestLists(visit, offered)}
            <div class="actions">
              <button class="main" name="answer" value="agree">${messages.agreeUpdate}</button>
              <a class="button" href="${adminPath(visit, `/apps/${app.appId}`)}">${messages.notNow}</a>
            </div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key, messages } = visit;
        const { app, offered } = await requireOffer(visit, form);
        requireUnchanged(form, offered, messages);
        await onForm(visit, () =>
          db.transaction(async (tx) => {
            const row = await lockManifest(tx, shopId, app.appId);
            requireUnchanged(form, row?.offered, messages);
            await agree(tx, shopId, app.appId, { manifest: offered, icon: row!.icon }, { ...deps, key });
            await recordAction(tx, visit, '/apps/:appId/update', { appId: app.appId });
          }),
        );
        return new Redirect(
          adminPath(visit, `/apps/${app.appId}`),
          messages.apps.updated({ name: offered.name }),
        );
      },
    },
    { needsReauthentication: true },
  );
}

async function requireReadings(
  visit: ShopVisit,
  form: { isWithinLimit: (key: string, perHour: number) => Promise<boolean> },
): Promise<void> {
  if (await form.isWithinLimit(`manifest/${visit.shopId}`, READINGS_PER_HOUR)) return;
  throw badRequest(visit.messages.error.texts['429']);
}

/** The manifest of an installed app that asks for more than was agreed to. */
async function requireOffer(visit: ShopVisit, request: { params: Readonly<Record<string, string>> }) {
  const app = await requireApp(visit, request);
  const row = await findManifest(visit.db, visit.shopId, app.appId);
  if (!row?.agreed || !row.offered) throw notFound();
  return { app, row: row satisfies ManifestRow, offered: row.offered };
}
