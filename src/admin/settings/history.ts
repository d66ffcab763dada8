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
import { chip, momentText } from '../components/format.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { changeList } from './file.ts';
import { translatedProblems } from './problem-text.ts';
import { savedNotice, saveSettings, settingsPreview } from './save.ts';
import { placeText, settingsTrail } from './section-page.ts';
import { settingsWords } from './words.ts';

/** Lines of a change in the list; the version's page has all of them. */
const SHOWN_LINES = 3;

export function history(pages: ShopPages, format: SettingsFormat): void {
  pages.get('/settings/history', 'settings_read', async (visit) => {
    const versions = await findSettingsVersions(visit.db, visit.shopId);
    const words = visit.words.settings.historyView;
    return {
      title: visit.words.settings.pages.history,
      menu: 'settings',
      breadcrumbs: settingsTrail(visit),
      main: html`<p class="quiet">${words.about}</p>
        <div class="list">
          ${
            versions.length === 0
              ? html`<div class="empty">${words.empty}</div>`
              : html`<table>
                  <thead>
                    <tr>
                      <th scope="col">${words.when}</th>
                      <th scope="col">${words.who}</th>
                      <th scope="col">${words.what}</th>
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
        if (form.field('newest') !== newest?.versionId) {
          throw conflict(visit.words.settings.historyView.moved);
        }
        try {
          const applied = await saveSettings(visit, version.file, format);
          const { undo } = await savedNotice(visit, applied);
          const text = visit.words.settings.historyView.restored({
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
  const words = visit.words.settings.historyView;
  const { versionId, at, author, changes } = version;
  const rest = changes.length - SHOWN_LINES;
  return html`<tr>
    <td data-title="${words.when}">
      <a href="${adminPath(visit, `/settings/history/${versionId}`)}">${momentText(at, visit.language)}</a>
      ${isCurrent && chip(words.current, 'good')}
    </td>
    <td data-title="${words.who}">${author ?? words.found}</td>
    <td data-title="${words.what}">
      ${changeList(changes.slice(0, SHOWN_LINES))}
      ${rest > 0 && html`<p class="quiet">${words.more({ count: rest })}</p>`}
    </td>
  </tr>`;
}

/** A state of the settings, and the changes that restoring it would make now. */
async function versionPage(visit: ShopVisit, versionId: string, format: SettingsFormat): Promise<AdminPage> {
  const version = await versionOf(visit, versionId);
  const [newest] = await findSettingsVersions(visit.db, visit.shopId, 1);
  const words = visit.words.settings.historyView;
  const { changes, problems } = await previewOf(visit, version.file, format);
  return {
    title: words.state({ when: momentText(version.at, visit.language) }),
    menu: 'settings',
    breadcrumbs: [
      ...settingsTrail(visit),
      { href: adminPath(visit, '/settings/history'), text: visit.words.settings.pages.history },
    ],
    main: html`<div class="stack">
      <section class="card">
        <h2>${words.what}</h2>
        <p class="quiet">${version.author ?? words.found}</p>
        ${changeList(version.changes)}
      </section>
      <section class="card">
        ${
          problems
            ? html`<h2>${words.cannot}</h2>
                <ul>
                  ${problems.map((line) => html`<li>${line}</li>`)}
                </ul>`
            : changes.length === 0
              ? html`<p>${words.same}</p>`
              : html`<h2>${words.restoring}</h2>
                  ${changeList(changes)}
                  ${
                    visit.may('settings_write') &&
                    html`<form method="post">
                      <input type="hidden" name="newest" value="${newest!.versionId}" />
                      <button class="main">${words.restore}</button>
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
    const labels = settingsWords(visit.words, visit.language);
    const placed = problems.map(({ path, text }) => `${placeText(path, labels)}: ${text}`);
    return { changes: [], problems: [...placed, ...lines] };
  }
}
