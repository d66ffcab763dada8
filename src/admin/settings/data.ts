import { html } from '../../http/html.ts';
import { backupFile } from '../backup-file.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath } from '../visit.ts';
import { settingsTrail } from './section-page.ts';

export function data(pages: ShopPages): void {
  pages.get(
    '/settings/data',
    'shop_write',
    async (visit) => {
      const words = visit.words.settings.dataView;
      return {
        title: visit.words.settings.pages.data,
        menu: 'settings',
        breadcrumbs: settingsTrail(visit),
        main: html`<div class="cards">
          <section class="card">
            <h2>${words.backup}</h2>
            <p>${words.backupAbout}</p>
            ${buttonForm({
              action: adminPath(visit, '/settings/data/backup'),
              text: words.backupButton,
              kind: 'main',
            })}
          </section>
          <section class="card">
            <h2>${visit.words.settings.pages.file}</h2>
            <p>${words.fileAbout}</p>
            <a class="button" href="${adminPath(visit, '/settings/file/download')}"
              >${visit.words.settings.fileView.download}</a
            >
          </section>
        </div>`,
      };
    },
    { needsReauthentication: true },
  );

  pages.post(
    '/settings/data/backup',
    'shop_write',
    (visit, form) =>
      backupFile(visit, visit.shopId, form, (tx) => recordAction(tx, visit, '/settings/data/backup')),
    { needsReauthentication: true },
  );
}
