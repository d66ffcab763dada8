import { Type } from 'typebox';
import { html, type Markup } from '../../http/html.ts';
import { createTurns } from '../../http/turns.ts';
import {
  exportSettings,
  parseSettingsFileInThread,
  SettingsProblem,
  settingsTextInThread,
} from '../../shops/settings/file.ts';
import { MAX_SETTINGS_FILE } from '../../shops/settings/yaml-file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { fileProblemLine } from './problem-text.ts';
import { savedNotice, saveSettings, settingsPreview } from './save.ts';
import { settingsBreadcrumbs } from './section-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const FILE = declareForm(
  {
    body: Type.Object({
      text: Type.String(),
      /** The button that was pressed. */
      action: Type.String({ enum: ['preview', 'apply'] }),
    }),
  },
  ({ settings: { fileView } }) => ({
    text: { kind: 'long text', label: fileView.text, rows: 40, isCode: true, maxLength: MAX_SETTINGS_FILE },
    action: { kind: 'hidden', label: fileView.apply },
  }),
);

/** The file as stored, or the typed file with the changes it would make or the reasons for its refusal. */
interface ShownFile {
  text: string;
  changes?: readonly string[];
  problems?: readonly string[];
}

/** All settings as the file that `kontor shop apply` accepts. */
export function settingsFile(pages: ShopPages, format: SettingsFormat): void {
  // One thread at a time: the files of all shops together use no more than one processor.
  const inTurn = createTurns({ running: 1, waiting: 20 });
  const parse = (text: string) => inTurn('yaml', () => parseSettingsFileInThread(text, format));
  const storedText = async ({ db, shopId }: ShopVisit) => {
    const file = await exportSettings(db, shopId, format);
    return inTurn('yaml', () => settingsTextInThread(file, format));
  };

  pages.form(
    '/settings/file',
    { read: 'settings_read', write: 'settings_write' },
    {
      show: async (visit) => filePage(visit, { text: await storedText(visit) }),
      save: async (visit, form) => {
        const { action, ...typed } = readFields(FILE, form, visit);
        const text = typed.text.replaceAll('\r\n', '\n');
        try {
          const file = await parse(text);
          if (action !== 'apply') {
            return filePage(visit, { text, changes: await settingsPreview(visit, file, format) });
          }
          const applied = await saveSettings(visit, file, format);
          return new Redirect(adminPath(visit, '/settings/file'), await savedNotice(visit, applied));
        } catch (error) {
          if (!(error instanceof SettingsProblem)) throw error;
          // The YAML parser may report a mistake twice, in different words.
          const problems = [...new Set(error.places.map((place) => fileProblemLine(place, visit)))];
          return { ...filePage(visit, { text, problems }), status: 422 };
        }
      },
    },
    optionsOf(FILE),
  );

  pages.file('/settings/file/download', 'settings_read', async (visit) => ({
    type: 'application/yaml; charset=utf-8',
    content: await storedText(visit),
    fileName: `${visit.shopId}.yaml`,
  }));
}

function filePage(visit: ShopVisit, { text, changes, problems }: ShownFile): AdminPage {
  const messages = visit.messages.settings.fileView;
  const mayWrite = visit.may('settings_write');
  return {
    title: visit.messages.settings.pages.file,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    actions: html`<a class="button" href="${adminPath(visit, '/settings/history')}"
        >${visit.messages.settings.pages.history}</a
      ><a class="button" href="${adminPath(visit, '/settings/file/download')}">${messages.download}</a>`,
    main: html`<form method="post" class="card">
      <p class="quiet">${messages.about}</p>
      ${
        problems &&
        html`<div class="problem" role="alert">
          <ul>
            ${problems.map((line) => html`<li>${line}</li>`)}
          </ul>
        </div>`
      }
      ${
        changes &&
        html`<div role="status">
          ${
            changes.length === 0
              ? html`<p>${messages.wouldNotChange}</p>`
              : html`<h2>${messages.wouldChange}</h2>
                  ${changeList(changes)}`
          }
        </div>`
      }
      ${
        mayWrite &&
        html`<div class="actions">
          <button name="action" value="preview">${messages.preview}</button>
          ${(changes?.length ?? 0) > 0 && html`<button class="main" name="action" value="apply">${messages.apply}</button>`}
        </div>`
      }
      ${showFields(FILE, visit, { values: { text }, draft: undefined, isDisabled: !mayWrite })('text')}
    </form>`,
  };
}

/** Lines such as `~ theme.accent: #0b5d66 -> #803020`, coloured by the kind of change. */
export function changeList(changes: readonly string[]): Markup {
  const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };
  return html`<ul class="changes">
    ${changes.map((line) => html`<li class="${kinds[line.charAt(0)] ?? 'changed'}">${line}</li>`)}
  </ul>`;
}
