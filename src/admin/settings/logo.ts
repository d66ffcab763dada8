import { html, type Markup } from '../../http/html.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { problemOf } from '../components/form.ts';
import { addPicture, choosePicture, pictureCard } from '../media/media.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { settingsBreadcrumbs } from './section-page.ts';

/**
 * Accepts a logo like a product picture: checked, scaled, and reduced to its pixels. It becomes a picture of the media
 * library.
 */
export function logo(pages: ShopPages, format: SettingsFormat, media: MediaStorage): void {
  pages.fileForm('/settings/theme/logo', 'settings_write', {
    field: 'logo',
    show: async (visit, _request, draft) => ({
      title: visit.messages.settings.logo.title,
      menu: 'settings',
      breadcrumbs: [
        ...settingsBreadcrumbs(visit),
        { href: adminPath(visit, '/settings/theme'), text: visit.messages.settings.pages.theme },
      ],
      main: html`<div class="narrow">${problemOf(draft)} ${logoCard(visit)}</div>`,
    }),
    save: async (visit, _request, upload) =>
      choosePicture(visit, format, 'logo', await addPicture(visit, media, upload)),
  });
}

/** The logo, the choice of another one, and a form that uploads one. */
export function logoCard(visit: ShopVisit): Markup {
  const messages = visit.messages.settings.logo;
  return html`${pictureCard(visit, 'logo')}
  ${
    visit.may('settings_write') &&
    html`<section class="card">
      <h2>${messages.upload}</h2>
      <form
        method="post"
        action="${adminPath(visit, '/settings/theme/logo')}"
        enctype="multipart/form-data"
        hx-boost="false"
      >
        <div class="field">
          <label for="logo-file">${messages.choose}</label>
          <input type="file" id="logo-file" name="logo" accept=".png,.jpg,.jpeg,.gif" required />
          <p class="hint">${messages.hint}</p>
        </div>
        <button>${messages.upload}</button>
      </form>
    </section>`
  }`;
}
