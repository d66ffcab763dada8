import { Type } from 'typebox';
import { describePicture, removeLibraryImage, replacePicture } from '../../catalogue/media/library.ts';
import { findLibraryPicture, type LibraryPicture } from '../../catalogue/media/queries.ts';
import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import { replaceOnPages } from '../../content/pages/pictures.ts';
import { findPagesWithPicture, type ListedPage } from '../../content/pages/queries.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';
import type { Upload } from '../../http/upload.ts';
import { isId } from '../../kernel/ids.ts';
import { refuseFullMedia } from '../../platform/media/quota.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage, type StoredImage } from '../../platform/media/store-image.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { listedPageTitle } from '../content/page-list.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { findProductNames } from '../search/queries.ts';
import { applySettingsWithin } from '../settings/save.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { pathOfPicture, PLACE_PATHS, placesOf, settingsWithPicture } from './look.ts';

/** What the picture shows, in each language. */
const PICTURE_TEXT = declareForm(
  { body: Type.Object({ text: Type.String({ maxLength: MAX_LENGTHS.pictureText }) }) },
  ({ media: messages }) => ({
    text: { label: messages.texts, isLocalised: true, autocomplete: 'off' },
  }),
);

/** One picture: where it is used, its texts, another file for it, and its deletion. */
export function picturePages(pages: ShopPages, format: SettingsFormat, media: MediaStorage): void {
  pages.form(
    '/media/:imageKey',
    { read: 'products_read', write: 'products_write' },
    {
      show: async (visit, request, draft) => picturePage(visit, await pictureOf(visit, request), draft),
      save: async (visit, form) => {
        const picture = await pictureOf(visit, form);
        const texts = Object.fromEntries(
          visit.settings.locales.map((locale) => [
            locale,
            readFields(PICTURE_TEXT, form, visit, { locale }).text,
          ]),
        );
        await visit.db.transaction(
          async (tx) => {
            await describePicture(tx, visit.shopId, picture, texts);
            await recordAction(tx, visit, '/media/:imageKey', { imageKey: picture.imageKey });
          },
          { appId: visit.user.userId },
        );
        return new Redirect(pathOf(visit, picture.imageKey), visit.messages.form.saved);
      },
    },
    optionsOf(PICTURE_TEXT),
  );

  pages.fileForm('/media/:imageKey/replace', 'products_write', {
    field: 'picture',
    show: async (visit, request, draft) => picturePage(visit, await pictureOf(visit, request), draft),
    save: async (visit, request, upload) => {
      const picture = await pictureOf(visit, request);
      const places = placesOf(visit, picture);
      // The settings name the files, so they change with the picture.
      if (places.length > 0 && !visit.may('settings_write'))
        throw badRequest(visit.messages.media.needsSettings);
      if (!visit.may('legal_write') && (await pagesOf(visit, picture)).length > 0)
        throw badRequest(visit.messages.media.needsPages);
      const stored = await storeUpload(visit, media, upload);
      try {
        await visit.db.transaction(
          async (tx) => {
            await replacePicture(tx, visit.config, visit.shopId, picture, stored);
            if (visit.may('legal_write'))
              await replaceOnPages(tx, visit.shopId, picture, stored, visit.user.email);
            const file = Object.assign(
              {},
              ...places.map((place) => settingsWithPicture(visit, place, stored)),
            );
            if (places.length > 0) await applySettingsWithin(tx, visit, file, format);
            await recordAction(tx, visit, '/media/:imageKey/replace', { imageKey: stored.imageKey });
          },
          { appId: visit.user.userId },
        );
      } catch (error) {
        await media.removeFolders(visit.shopId, [stored.imageKey]).catch(() => {});
        throw error;
      }
      return new Redirect(pathOf(visit, stored.imageKey), visit.messages.media.replaced);
    },
  });

  pages.post('/media/:imageKey/delete', 'products_write', async (visit, form) => {
    const picture = await pictureOf(visit, form);
    if (picture.productId !== null || placesOf(visit, picture).length > 0) {
      throw badRequest(visit.messages.media.inUse);
    }
    await visit.db.transaction(
      async (tx) => {
        const pagesInUse = await findPagesWithPicture(tx, visit.shopId, picture.imageKey);
        if (pagesInUse.length > 0) throw badRequest(visit.messages.media.inUse);
        await removeLibraryImage(tx, visit.shopId, picture.imageKey);
        await recordAction(tx, visit, '/media/:imageKey/delete', { imageKey: picture.imageKey });
      },
      { appId: visit.user.userId },
    );
    return new Redirect(adminPath(visit, '/media'), visit.messages.media.deleted({ name: picture.name }));
  });
}

export const pathOf = (visit: ShopVisit, imageKey: string) => adminPath(visit, `/media/${imageKey}`);

export const mediaBreadcrumbs = (visit: ShopVisit) => [
  ...settingsBreadcrumbs(visit),
  { href: adminPath(visit, '/media'), text: visit.messages.settings.pages.media },
];

export async function readLibraryPicture(
  { db, shopId }: ShopVisit,
  imageKey: string,
): Promise<LibraryPicture> {
  const picture = isId(imageKey) ? await findLibraryPicture(db, shopId, imageKey) : undefined;
  if (!picture) throw notFound();
  return picture;
}

const pictureOf = (visit: ShopVisit, { params }: PageRequest) =>
  readLibraryPicture(visit, params['imageKey']!);

const pagesOf = ({ db, shopId }: ShopVisit, { imageKey }: LibraryPicture): Promise<ListedPage[]> =>
  findPagesWithPicture(db, shopId, imageKey);

export async function storeUpload(
  { db, config, shopId, messages }: ShopVisit,
  media: MediaStorage,
  { name, path }: Upload,
): Promise<StoredImage> {
  if (!/\.(?:png|jpe?g|gif)$/i.test(name)) throw badRequest(messages.settings.logo.wrongKind);
  await refuseFullMedia(db, config, shopId);
  return storeImage(media, shopId, path, name);
}

export const altText = ({ locale, settings }: ShopVisit, { altTexts }: LibraryPicture) =>
  textIn(altTexts, locale, settings.defaultLocale) ?? '';

export function uploadField({ messages }: ShopVisit, id: string, label: string, isLogo = false): Markup {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input type="file" id="${id}" name="picture" accept=".png,.jpg,.jpeg,.gif" required />
    <p class="hint">${isLogo ? messages.settings.logo.hint : messages.media.fileHint}</p>
  </div>`;
}

async function picturePage(visit: ShopVisit, picture: LibraryPicture, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.media;
  const { imageKey, name, sizes, altTexts, productId } = picture;
  const { locales } = visit.settings;
  const mayWrite = visit.may('products_write');
  const places = placesOf(visit, picture);
  const [[product], pages] = await Promise.all([
    productId === null ? [] : findProductNames(visit.db, visit.shopId, [productId]),
    pagesOf(visit, picture),
  ]);
  const isUsed = productId !== null || places.length > 0 || pages.length > 0;
  const largest = sizes.Large;
  return {
    title: name,
    menu: 'settings',
    breadcrumbs: mediaBreadcrumbs(visit),
    actions:
      mayWrite &&
      !isUsed &&
      buttonForm({
        action: `${pathOf(visit, imageKey)}/delete`,
        text: visit.messages.form.delete,
        kind: 'danger',
        confirm: messages.confirmDelete({ name }),
      }),
    main: html`<div class="sides">
      <div class="stack">
        <section class="card picture-shown">
          <img
            src="${pathOfPicture(visit, picture, ['MediumLarge', 'Large'])}"
            alt="${altText(visit, picture)}"
          />
          ${largest && html`<p class="quiet">${largest.width} × ${largest.height}</p>`}
        </section>
        <form method="post" action="${pathOf(visit, imageKey)}" class="card">
          ${problemOf(draft)}
          <h2>${messages.texts}</h2>
          <p class="hint">${messages.textsHint}</p>
          ${locales.map((locale) =>
            showFields(PICTURE_TEXT, visit, {
              values: { text: altTexts[locale] },
              locale,
              isDisabled: !mayWrite,
              // The file of a refused replacement comes with no texts.
              draft: draft?.fieldList(`text.${locale}`).length ? draft : undefined,
            })('text', { label: languageName(locale, visit.language, locales) }),
          )}
          ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
        </form>
      </div>
      <div class="stack">
        <section class="card">
          <h2>${messages.uses}</h2>
          ${!isUsed && html`<p class="quiet">${messages.unused}</p>`}
          <ul>
            ${
              product &&
              html`<li>
                <a href="${adminPath(visit, `/products/${product.productId}`)}"
                  >${(product.name && textIn(product.name, visit.locale, visit.settings.defaultLocale)) ?? product.productNumber}</a
                >
                <span class="quiet">${product.productNumber}</span>
              </li>`
            }
            ${places.map(
              (place) =>
                html`<li>
                  <a href="${adminPath(visit, PLACE_PATHS[place])}">${messages.places[place]}</a>
                </li>`,
            )}
            ${pages.map(
              (page) =>
                html`<li>
                  <a href="${adminPath(visit, `/pages/${page.pageId}`)}">${listedPageTitle(visit, page)}</a>
                  <span class="quiet">${visit.messages.pages.kinds[page.kind]}</span>
                </li>`,
            )}
          </ul>
        </section>
        ${
          mayWrite &&
          html`<section class="card">
            <h2>${messages.replace}</h2>
            <form
              method="post"
              action="${pathOf(visit, imageKey)}/replace"
              enctype="multipart/form-data"
              hx-boost="false"
            >
              ${uploadField(visit, 'other-picture', messages.otherFile)}
              <button>${messages.replace}</button>
            </form>
          </section>`
        }
      </div>
    </div>`,
  };
}
