import { html } from '../../http/html.ts';
import { shopUrl } from '../../http/links.ts';
import { textIn } from '../../http/locale.ts';
import { notFound } from '../../http/errors.ts';
import { authorise } from '../../apps/apps.ts';
import { declareHidden, readFields } from '../components/declared-form.ts';
import type { FetchDeps } from '../../apps/manifest/fetch-manifest.ts';
import { agree, register } from '../../apps/manifest/install.ts';
import { findManifest, lockManifest } from '../../apps/manifest/queries.ts';
import { problemOf } from '../components/form.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath } from '../visit.ts';
import { appHead, manifestLists } from './manifest-view.ts';
import { requireApp } from './require-app.ts';
import { appsStep, onForm, scopeLists } from './parts.ts';
import { Redirect } from '../../http/page-kit.ts';

const BUTTON = declareHidden({ answer: 10 });

/**
 * The consent of the install flow: the merchant sees the app's permissions, and agrees or declines. The browser then
 * takes a code to the app, which exchanges it for a token and redirects the merchant to the app's page.
 */
export function installing(pages: ShopPages, deps: FetchDeps): void {
  pages.form(
    '/apps/:appId/install',
    { read: 'apps_write', write: 'apps_write' },
    {
      show: async (visit, request, draft) => {
        const { settings, locale, shopId } = visit;
        const messages = visit.messages.apps;
        const app = await requireApp(visit, request);
        if (app.callbackUrl === null) throw notFound();
        const manifest = await findManifest(visit.db, shopId, app.appId);
        const asked = manifest && (manifest.offered ?? manifest.agreed);
        const shop = textIn(settings.name, locale, settings.defaultLocale) ?? shopId;
        return {
          title: messages.consentTitle({ name: app.name }),
          menu: 'apps',
          breadcrumbs: [appsStep(visit), { href: adminPath(visit, `/apps/${app.appId}`), text: app.name }],
          main: html`<form method="post" class="card prose consent">
            ${problemOf(draft)} ${asked && versionField(asked)} ${asked && appHead(visit, manifest, asked)}
            <p>${messages.consentText({ name: app.name, shop })}</p>
            <h2>${messages.may}</h2>
            ${asked ? manifestLists(visit, asked) : scopeLists(visit, app.asks)}
            <p>${messages.consentNext({ host: new URL(app.callbackUrl).host })}</p>
            ${app.tokens > 0 && html`<p>${messages.consentAgain}</p>`}
            <div class="actions">
              <button class="main" name="answer" value="agree">${messages.agree}</button>
              <button name="answer" value="decline">${messages.decline}</button>
            </div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key, origin } = visit;
        const messages = visit.messages.apps;
        const { appId, name } = await requireApp(visit, form);
        const manifest = await findManifest(db, shopId, appId);
        if (readFields(BUTTON, form, visit).answer !== 'agree') {
          return new Redirect(adminPath(visit, `/apps/${appId}`), messages.declined({ name }));
        }
        const asked = manifest && (manifest.offered ?? manifest.agreed);
        if (asked) {
          requireUnchanged(form, asked, visit.messages);
          await onForm(visit, () => register(db, shopId, appId, asked, { ...deps, key, origin }));
        }
        const address = await onForm(visit, () =>
          db.transaction(async (tx) => {
            if (asked) {
              const row = await lockManifest(tx, shopId, appId);
              requireUnchanged(form, row && (row.offered ?? row.agreed), visit.messages);
              await agree(tx, shopId, appId, { manifest: asked, icon: row!.icon }, { ...deps, key });
            }
            const made = await authorise(tx, key, shopId, appId, shopUrl(origin, shopId));
            await recordAction(tx, visit, '/apps/:appId/install', { appId });
            return made;
          }),
        );
        return {
          title: messages.leaving({ name }),
          menu: 'apps',
          next: address,
          main: html`<section class="card prose">
            <p>${messages.leavingHint}</p>
            <a class="button main" href="${address}">${messages.continueTo({ name })}</a>
          </section>`,
        };
      },
    },
    { needsReauthentication: true },
  );
}
