import { html } from '../../http/html.ts';
import { backupFile } from '../backup-file.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath } from '../visit.ts';
import { settingsBreadcrumbs } from './section-page.ts';

export function data(pages: ShopPages): void {
  pages.get(
    '/settings/data',
    'shop_write',
    async (visit) => {
      const messages = visit.messages.settings.dataView;
      return {
        title: visit.messages.settings.pages.data,
        menu: 'settings',
        breadcrumbs: settingsBreadcrumbs(visit),
        main: html`<div class="cards">
          <section class="card">
            <h2>${messages.backup}</h2>
            <p>${messages.backupAbout}</p>
            ${buttonForm({
              action: adminPath(visit, '/settings/data/backup'),
              text: messages.backupButton,
              kind: 'main',
            })}
          </section>
          <section class="card">
            <h2>${visit.messages.settings.pages.file}</h2>
            <p>${messages.fileAbout}</p>
            <a class="button" href="${adminPath(visit, '/settings/file/download')}"
              >${visit.messages.settings.fileView.download}</a
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
