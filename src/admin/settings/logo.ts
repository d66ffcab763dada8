import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { imagePath, imageUrl } from '../../platform/media/images.ts';
import { refuseFullMedia } from '../../platform/media/quota.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage } from '../../platform/media/store-image.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { problemOf } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { savedNotice, saveSettings } from './save.ts';
import { settingsTrail } from './section-page.ts';
import { Redirect } from '../../http/page-kit.ts';

/**
 * Accepts a logo like a product picture: checked, scaled, and reduced to its pixels. Its files stay as long as the
 * settings or their history name them.
 */
export function logo(pages: ShopPages, format: SettingsFormat, media: MediaStorage): void {
  pages.fileForm('/settings/theme/logo', 'settings_write', {
    field: 'logo',
    show: async (visit, _request, draft) => ({
      title: visit.messages.settings.logo.title,
      menu: 'settings',
      breadcrumbs: [
        ...settingsTrail(visit),
        { href: adminPath(visit, '/settings/theme'), text: visit.messages.settings.pages.theme },
      ],
      main: html`<div class="narrow">${problemOf(draft)} ${logoCard(visit)}</div>`,
    }),
    save: async (visit, _request, { name, path }) => {
      const { db, config, shopId } = visit;
      if (!/\.(?:png|jpe?g|gif)$/i.test(name)) throw badRequest(visit.messages.settings.logo.wrongKind);
      await refuseFullMedia(db, config, shopId);
      const { imageKey, sizes } = await storeImage(media, shopId, path, name);
      try {
        const file = sizes.Medium ?? sizes.Large!;
        const logoUrl = imagePath(imageUrl(visit.origin, shopId, imageKey, file.file));
        const applied = await saveSettings(visit, { logoUrl }, format);
        return new Redirect(adminPath(visit, '/settings/theme'), await savedNotice(visit, applied));
      } catch (error) {
        await media.removeFolders(shopId, [imageKey]).catch(() => {});
        throw error;
      }
    },
  });
}

/** The logo, and a form for another one. */
export function logoCard(visit: ShopVisit): Markup {
  const messages = visit.messages.settings.logo;
  const { logoUrl } = visit.settings;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    ${logoUrl?.startsWith('/') && html`<p class="logo-shown"><img src="${logoUrl}" alt="${messages.current}" /></p>`}
    ${
      visit.may('settings_write') &&
      html`<form
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
      </form>`
    }
  </section>`;
}
