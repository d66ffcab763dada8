import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { deleteScriptTagRow, lockScriptTag } from '../../apps/script-tags/queries.ts';
import { applySettings } from '../../shops/settings/file.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { chip, dayText } from '../components/format.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appTabs } from './parts.ts';
import { findListedScripts, type ListedScript } from './queries.ts';
import { Redirect } from '../../http/page-kit.ts';

const SCRIPTS = declareForm(
  { body: Type.Object({ load: Type.Boolean(), necessary: Type.Array(Type.String()) }) },
  ({ scripts: messages }) => ({
    load: { kind: 'tick', label: messages.load, hint: messages.loadHint },
    necessary: { kind: 'ticks', label: messages.necessaryAgree },
  }),
);

/** The scripts that apps add to the shop, and the merchant's decisions about them. */
export function scripts(pages: ShopPages): void {
  pages.form(
    '/apps/scripts',
    { read: 'apps_read', write: 'apps_write' },
    {
      show: async (visit, _request, draft) => {
        const { settings } = visit;
        const messages = visit.messages.scripts;
        const mayWrite = visit.may('apps_write');
        const rows = await findListedScripts(visit.db, visit.shopId);
        return {
          title: visit.messages.layout.menuEntries.apps,
          menu: 'apps',
          main: html`${appTabs(visit, 'scripts')}
            <p class="intro">${messages.intro}</p>
            <form method="post" id="scripts" class="card">
              ${problemOf(draft)} ${versionField(settings.appScripts)}
              ${showFields(SCRIPTS, visit, { values: settings.appScripts, draft, isDisabled: !mayWrite })('load')}
              ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
            </form>
            ${
              rows.length === 0
                ? html`<p class="list empty">${messages.empty}</p>`
                : html`<ul class="stack">
                    ${rows.map((row) => scriptCard(visit, row, draft))}
                  </ul>`
            }`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, settings, messages } = visit;
        requireUnchanged(form, settings.appScripts, messages);
        const rows = await findListedScripts(db, shopId);
        const known = new Set(rows.filter(({ necessary }) => necessary).map(({ scriptUrl }) => scriptUrl));
        const { load, necessary } = readFields(SCRIPTS, form, visit);
        const appScripts = { load, necessary: necessary.filter((url) => known.has(url)) };
        await db.transaction(async (tx) => {
          await applySettings(tx, shopId, { appScripts });
          await recordAction(tx, visit, '/apps/scripts');
        });
        const before = settings.appScripts;
        return new Redirect(adminPath(visit, '/apps/scripts'), {
          text: messages.form.saved,
          ...(before.necessary.length < 2 && {
            undo: {
              action: adminPath(visit, '/apps/scripts'),
              fields: {
                version: versionOf(appScripts),
                ...(before.load && { load: 'yes' }),
                ...(before.necessary[0] !== undefined && { necessary: before.necessary[0] }),
              },
            },
          }),
        });
      },
    },
    optionsOf(SCRIPTS),
  );

  pages.post('/apps/scripts/:scriptTagId/remove', 'apps_write', async (visit, form) => {
    const { db, shopId } = visit;
    const scriptTagId = form.params['scriptTagId']!;
    if (!isId(scriptTagId)) throw notFound();
    await db.transaction(async (tx) => {
      if (!(await lockScriptTag(tx, shopId, scriptTagId))) throw notFound();
      // Every page of the storefront loads it.
      await moveSettingsVersion(tx, shopId);
      await deleteScriptTagRow(tx, shopId, scriptTagId);
      await recordAction(tx, visit, '/apps/scripts/:scriptTagId/remove', { scriptTagId });
    });
    return new Redirect(adminPath(visit, '/apps/scripts'), visit.messages.scripts.removed);
  });
}

/** Its checkbox belongs to the form above, although the button beside it is a separate form. */
function scriptCard(visit: ShopVisit, row: ListedScript, draft: Draft | undefined): Markup {
  const messages = visit.messages.scripts;
  const mayWrite = visit.may('apps_write');
  const isAgreed = draft
    ? draft.fieldList('necessary').includes(row.scriptUrl)
    : visit.settings.appScripts.necessary.includes(row.scriptUrl);
  return html`<li class="card">
    <div class="script">
      <div>
        <code class="address">${row.scriptUrl}</code>
        <p class="hint">
          <a href="${adminPath(visit, `/apps/${row.appId}`)}">${row.appName}</a>,
          ${dayText(row.createdAt, visit.language)}
        </p>
      </div>
      ${
        mayWrite &&
        html`<form
          method="post"
          action="${adminPath(visit, `/apps/scripts/${row.scriptTagId}/remove`)}"
          data-confirm="${messages.removeSure}"
        >
          <button class="danger">${messages.remove}</button>
        </form>`
      }
    </div>
    ${
      row.necessary
        ? html`<div class="field tick">
            <label
              ><input
                type="checkbox"
                form="scripts"
                name="necessary"
                value="${row.scriptUrl}"
                ${isAgreed && html`checked`}
                ${!mayWrite && html`disabled`}
              />
              ${messages.necessaryAgree}</label
            >
            <p class="hint">${messages.necessaryHint}</p>
          </div>`
        : html`<p>${chip(messages.onlyWithConsent)}</p>`
    }
  </li>`;
}
