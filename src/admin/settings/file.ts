import { html, type Markup } from '../../http/html.ts';
import {
  exportSettings,
  parseSettingsFile,
  SettingsProblem,
  settingsText,
} from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { longTextField } from '../components/form.ts';
import { Redirect, type AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';
import { fileProblemLine } from './problem-text.ts';
import { savedNotice, saveSettings, settingsPreview } from './save.ts';
import { settingsTrail } from './section-page.ts';

/** What was typed, and what applying it would change or why it is refused. */
interface Tried {
  text: string;
  changes?: readonly string[];
  problems?: readonly string[];
}

/** The whole settings as the file that `kontor shop apply` takes. */
export function settingsFile(pages: ShopPages, format: SettingsFormat): void {
  pages.form(
    '/settings/file',
    { read: 'settings_read', write: 'settings_write' },
    {
      show: (visit) => filePage(visit, format),
      save: async (visit, form) => {
        const text = form.field('text').replaceAll('\r\n', '\n');
        try {
          const file = parseSettingsFile(text, format);
          if (form.field('action') !== 'apply') {
            return await filePage(visit, format, {
              text,
              changes: await settingsPreview(visit, file, format),
            });
          }
          const applied = await saveSettings(visit, file, format);
          return new Redirect(to(visit, '/settings/file'), await savedNotice(visit, applied));
        } catch (error) {
          if (!(error instanceof SettingsProblem)) throw error;
          // The parser of YAML may name a mistake twice, in other words.
          const problems = [...new Set(error.places.map((place) => fileProblemLine(place, visit)))];
          return { ...(await filePage(visit, format, { text, problems })), status: 422 };
        }
      },
    },
  );

  pages.file('/settings/file/download', 'settings_read', async ({ db, shopId }) => ({
    type: 'application/yaml; charset=utf-8',
    content: settingsText(await exportSettings(db, shopId, format), format),
    fileName: `${shopId}.yaml`,
  }));
}

async function filePage(visit: ShopVisit, format: SettingsFormat, tried?: Tried): Promise<AdminPage> {
  const words = visit.words.settings.fileView;
  const mayWrite = visit.may('settings_write');
  const text = tried?.text ?? settingsText(await exportSettings(visit.db, visit.shopId, format), format);
  const { changes = [], problems } = tried ?? {};
  return {
    title: visit.words.settings.pages.file,
    menu: 'settings',
    trail: settingsTrail(visit),
    actions: html`<a class="button" href="${to(visit, '/settings/history')}"
        >${visit.words.settings.pages.history}</a
      ><a class="button" href="${to(visit, '/settings/file/download')}">${words.download}</a>`,
    main: html`<form method="post" class="card">
      <p class="quiet">${words.about}</p>
      ${
        problems &&
        html`<div class="problem" role="alert">
          <ul>
            ${problems.map((line) => html`<li>${line}</li>`)}
          </ul>
        </div>`
      }
      ${
        tried?.changes &&
        html`<div role="status">
          ${
            changes.length === 0
              ? html`<p>${words.wouldNotChange}</p>`
              : html`<h2>${words.wouldChange}</h2>
                  ${changeList(changes)}`
          }
        </div>`
      }
      ${
        mayWrite &&
        html`<div class="actions">
          <button name="action" value="preview">${words.preview}</button>
          ${changes.length > 0 && html`<button class="main" name="action" value="apply">${words.apply}</button>`}
        </div>`
      }
      ${longTextField({
        name: 'text',
        label: words.text,
        value: text,
        rows: 40,
        isCode: true,
        isDisabled: !mayWrite,
      })}
    </form>`,
  };
}

/** Lines such as `~ theme.accent: #0b5d66 -> #803020`, each in the colour of what it does. */
export function changeList(changes: readonly string[]): Markup {
  const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };
  return html`<ul class="changes">
    ${changes.map((line) => html`<li class="${kinds[line.charAt(0)] ?? 'changed'}">${line}</li>`)}
  </ul>`;
}
