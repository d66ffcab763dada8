import { conflict, notFound } from '../../http/errors.ts';
import { html, type Part } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { SettingsProblem } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import {
  findSettingsVersion,
  findSettingsVersions,
  type SettingsVersion,
} from '../../shops/settings/history.ts';
import { declareHidden, readFields, showFields } from '../components/declared-form.ts';
import { chip, momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { changeList } from './file.ts';
import { translatedProblems } from './problem-text.ts';
import { savedNotice, saveSettings, settingsPreview } from './save.ts';
import { placeText, settingsBreadcrumbs } from './section-page.ts';
import { settingsMessages } from './settings-messages.ts';
import { Redirect } from '../../http/page-kit.ts';

/** Lines of a change in the list; the version's page has all of them. */
const SHOWN_LINES = 3;

/** The newest version when the page was shown. */
const SHOWN_STATE = declareHidden({ newest: 36 });

export function history(pages: ShopPages, format: SettingsFormat): void {
  pages.get('/settings/history', 'settings_read', async (visit) => {
    const versions = await findSettingsVersions(visit.db, visit.shopId);
    const messages = visit.messages.settings.historyView;
    return {
      title: visit.messages.settings.pages.history,
      menu: 'settings',
      breadcrumbs: settingsBreadcrumbs(visit),
      main: html`<p class="quiet">${messages.about}</p>
        <div class="list">
          ${
            versions.length === 0
              ? html`<div class="empty">${messages.empty}</div>`
              : html`<table>
                  <thead>
                    <tr>
                      <th scope="col">${messages.when}</th>
                      <th scope="col">${messages.who}</th>
                      <th scope="col">${messages.what}</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${versions.map((version, index) => versionRow(visit, version, index === 0))}
                  </tbody>
                </table>`
          }
        </div>`,
    };
  });

  pages.form(
    '/settings/history/:versionId',
    { read: 'settings_read', write: 'settings_write' },
    {
      show: async (visit, request) => versionPage(visit, request.params['versionId']!, format),
      save: async (visit, form) => {
        const version = await versionOf(visit, form.params['versionId']!);
        const [newest] = await findSettingsVersions(visit.db, visit.shopId, 1);
        if (readFields(SHOWN_STATE, form, visit).newest !== newest?.versionId) {
          throw conflict(visit.messages.settings.historyView.moved);
        }
        try {
          const applied = await saveSettings(visit, version.file, format);
          const { undo } = await savedNotice(visit, applied);
          const text = visit.messages.settings.historyView.restored({
            when: momentText(version.at, visit.language),
          });
          return new Redirect(adminPath(visit, '/settings/history'), { text, undo });
        } catch (error) {
          if (!(error instanceof SettingsProblem)) throw error;
          return { ...(await versionPage(visit, version.versionId, format)), status: 422 };
        }
      },
    },
  );
}

async function versionOf({ db, shopId }: ShopVisit, versionId: string) {
  const version = isId(versionId) ? await findSettingsVersion(db, shopId, versionId) : undefined;
  if (!version) throw notFound();
  return version;
}

function versionRow(visit: ShopVisit, version: SettingsVersion, isCurrent: boolean): Part {
  const messages = visit.messages.settings.historyView;
  const { versionId, at, author, changes } = version;
  const rest = changes.length - SHOWN_LINES;
  return html`<tr>
    <td data-title="${messages.when}">
      <a href="${adminPath(visit, `/settings/history/${versionId}`)}">${momentText(at, visit.language)}</a>
      ${isCurrent && chip(messages.current, 'good')}
    </td>
    <td data-title="${messages.who}">${author ?? messages.found}</td>
    <td data-title="${messages.what}">
      ${changeList(changes.slice(0, SHOWN_LINES))}
      ${rest > 0 && html`<p class="quiet">${messages.more({ count: rest })}</p>`}
    </td>
  </tr>`;
}

/** A state of the settings, and the changes that restoring it would make now. */
async function versionPage(visit: ShopVisit, versionId: string, format: SettingsFormat): Promise<AdminPage> {
  const version = await versionOf(visit, versionId);
  const [newest] = await findSettingsVersions(visit.db, visit.shopId, 1);
  const messages = visit.messages.settings.historyView;
  const { changes, problems } = await previewOf(visit, version.file, format);
  return {
    title: messages.state({ when: momentText(version.at, visit.language) }),
    menu: 'settings',
    breadcrumbs: [
      ...settingsBreadcrumbs(visit),
      { href: adminPath(visit, '/settings/history'), text: visit.messages.settings.pages.history },
    ],
    main: html`<div class="stack">
      <section class="card">
        <h2>${messages.what}</h2>
        <p class="quiet">${version.author ?? messages.found}</p>
        ${changeList(version.changes)}
      </section>
      <section class="card">
        ${
          problems
            ? html`<h2>${messages.cannot}</h2>
                <ul>
                  ${problems.map((line) => html`<li>${line}</li>`)}
                </ul>`
            : changes.length === 0
              ? html`<p>${messages.same}</p>`
              : html`<h2>${messages.restoring}</h2>
                  ${changeList(changes)}
                  ${
                    visit.may('settings_write') &&
                    html`<form method="post">
                      ${showFields(SHOWN_STATE, visit, { values: { newest: newest!.versionId }, draft: undefined })('newest')}
                      <button class="main">${messages.restore}</button>
                    </form>`
                  }`
        }
      </section>
    </div>`,
  };
}

async function previewOf(
  visit: ShopVisit,
  file: Parameters<typeof settingsPreview>[1],
  format: SettingsFormat,
) {
  try {
    return { changes: await settingsPreview(visit, file, format) };
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    const { problems, lines } = translatedProblems(error, visit);
    const labels = settingsMessages(visit.messages, visit.language);
    const placed = problems.map(({ path, text }) => `${placeText(path, labels)}: ${text}`);
    return { changes: [], problems: [...placed, ...lines] };
  }
}
