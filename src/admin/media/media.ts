import { addLibraryImage, addToProduct, setCategoryPicture } from '../../catalogue/media/library.ts';
import {
  findLibraryPicture,
  findNewestPictures,
  findPicturesByName,
  type LibraryPicture,
} from '../../catalogue/media/queries.ts';
import { addImage } from '../../catalogue/products/slideshow.ts';
import type { Transaction } from '../../db/database.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';
import type { Upload } from '../../http/upload.ts';
import { isId } from '../../kernel/ids.ts';
import { copyImage } from '../../platform/media/copy-image.ts';
import { refuseFullMedia } from '../../platform/media/quota.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { type StoredImage } from '../../platform/media/store-image.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { declareHidden, readFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { savedNotice, saveSettings } from '../settings/save.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  addressAt,
  isPicturePlace,
  PLACE_SETTINGS,
  pathOfPicture,
  PLACE_PATHS,
  settingsWithPicture,
  THUMBNAIL,
  type PicturePlace,
} from './look.ts';
import {
  chooseButton,
  pickTargetPage,
  parseTarget,
  pickerLink,
  pickTarget,
  toParameter,
  type PickTarget,
} from './picker.ts';
import {
  mediaBreadcrumbs,
  pathOf,
  uploadField,
  picturePages,
  readLibraryPicture,
  altText,
  storeUpload,
} from './picture-page.ts';

const PER_PAGE = 60;
const MAX_SEARCH_LENGTH = 100;

/** A picture for a place; an empty key takes it away. */
const CHOICE = declareHidden({ for: 100, imageKey: 255 });

/** All pictures of the shop, and the choice of one for the settings, a product, a category or a text. */
export function mediaPages(pages: ShopPages, format: SettingsFormat, media: MediaStorage): void {
  pages.get('/media', 'products_read', listPage);

  pages.fileForm('/media/new', 'products_write', {
    field: 'picture',
    show: async (visit, request, draft) => ({
      title: visit.messages.media.upload,
      menu: 'settings',
      breadcrumbs: mediaBreadcrumbs(visit),
      main: html`<div class="narrow card" data-picker-content>
        ${problemOf(draft)} ${uploadForm(visit, pickTarget(visit, request))}
      </div>`,
    }),
    save: async (visit, request, upload) => {
      const target = pickTarget(visit, request);
      if (target?.kind === 'product') {
        await visit.call(addImage, { params: { productId: target.id }, body: { image: upload } });
        return new Redirect(pickTargetPage(visit, target), visit.messages.media.assigned);
      }
      const picture = await addPicture(visit, media, upload);
      if (!target) return new Redirect(pathOf(visit, picture.imageKey), visit.messages.media.uploaded);
      if (target.kind === 'category')
        return assignPicture(visit, media, target, { ...picture, altTexts: {} });
      // The newest picture is the first of the library.
      if (target.kind === 'text') return new Redirect(adminPath(visit, '/media', { for: 'text' }));
      return choosePicture(visit, format, target.kind, picture);
    },
  });

  /** A product gets one more picture; a category has one, or none where no picture is named. */
  pages.post('/media/assign', 'products_write', async (visit, form) => {
    const { for: place, imageKey } = readFields(CHOICE, form, visit);
    const target = parseTarget(place);
    if (!target || !('id' in target)) throw notFound();
    if (imageKey === '' && target.kind === 'product') throw notFound();
    const picture = imageKey === '' ? undefined : await readLibraryPicture(visit, imageKey);
    return assignPicture(visit, media, target, picture);
  });

  pages.post('/media/choose', 'settings_write', async (visit, form) => {
    const { for: place, imageKey } = readFields(CHOICE, form, visit);
    if (!isPicturePlace(place)) throw notFound();
    return choosePicture(
      visit,
      format,
      place,
      imageKey === '' ? undefined : await readLibraryPicture(visit, imageKey),
    );
  });

  picturePages(pages, format, media);
}

/** Stores an uploaded picture in the library. */
export async function addPicture(
  visit: ShopVisit,
  media: MediaStorage,
  upload: Upload,
): Promise<StoredImage & { name: string }> {
  const picture = { ...(await storeUpload(visit, media, upload)), name: upload.name };
  try {
    await visit.db.transaction(
      async (tx) => {
        await addLibraryImage(tx, visit.config, visit.shopId, picture);
        await recordAction(tx, visit, '/media/new', { imageKey: picture.imageKey });
      },
      { appId: visit.user.userId },
    );
  } catch (error) {
    await media.removeFolders(visit.shopId, [picture.imageKey]).catch(() => {});
    throw error;
  }
  return picture;
}

export async function choosePicture(
  visit: ShopVisit,
  format: SettingsFormat,
  place: PicturePlace,
  picture: Pick<LibraryPicture, 'imageKey' | 'sizes'> | undefined,
): Promise<Redirect> {
  const applied = await saveSettings(visit, settingsWithPicture(visit, place, picture), format);
  return new Redirect(adminPath(visit, PLACE_PATHS[place]), await savedNotice(visit, applied));
}

/** Products and categories own their files, so they get a copy. */
async function assignPicture(
  visit: ShopVisit,
  media: MediaStorage,
  target: Extract<PickTarget, { id: string }>,
  picture: Omit<LibraryPicture, 'productId'> | undefined,
): Promise<Redirect> {
  const { db, config, shopId, user } = visit;
  await refuseFullMedia(db, config, shopId);
  const copy = picture && (await copyImage(media, shopId, picture));
  const save = async (tx: Transaction) => {
    const object = target.kind === 'product' ? { productId: target.id } : { categoryId: target.id };
    await recordAction(tx, visit, '/media/assign', object);
    if (target.kind === 'category') return setCategoryPicture(tx, config, shopId, target.id, copy);
    if (picture && copy) await addToProduct(tx, config, shopId, target.id, picture, copy);
    return undefined;
  };
  let replaced: string | undefined;
  try {
    replaced = await db.transaction(save, { appId: user.userId });
  } catch (error) {
    if (copy) await media.removeFolders(shopId, [copy.imageKey]).catch(() => {});
    throw error;
  }
  // Where that fails, the clean-up removes them.
  if (replaced !== undefined) await media.removeFolders(shopId, [replaced]).catch(() => {});
  return new Redirect(
    pickTargetPage(visit, target),
    picture ? visit.messages.media.assigned : visit.messages.form.saved,
  );
}

async function listPage(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const messages = visit.messages.media;
  const text = (request.query('q') ?? '').trim().slice(0, MAX_SEARCH_LENGTH);
  const target = pickTarget(visit, request);
  const parameter = target && toParameter(target);
  const found = await findPage(visit, text, request.query('after'));
  const pictures = found.slice(0, PER_PAGE);
  const address = (after?: string) => adminPath(visit, '/media', { q: text, for: parameter, after });
  const link = (href: string, label: string) => html`<a class="button" href="${href}">${label}</a>`;
  return {
    title: target ? messages.chooseFor[target.kind] : visit.messages.settings.pages.media,
    menu: 'settings',
    breadcrumbs: target ? mediaBreadcrumbs(visit) : settingsBreadcrumbs(visit),
    main: html`<div class="stack" data-picker-content>
      <div class="card">
        <form class="filters" method="get" action="${adminPath(visit, '/media')}">
          ${parameter !== undefined && html`<input type="hidden" name="for" value="${parameter}" />`}
          <label class="hidden" for="media-search">${messages.search}</label>
          <input
            type="search"
            id="media-search"
            name="q"
            value="${text}"
            maxlength="${MAX_SEARCH_LENGTH}"
            placeholder="${messages.search}"
          />
          <button>${messages.find}</button>
        </form>
        ${visit.may('products_write') && uploadForm(visit, target)}
      </div>
      <div class="card">
        ${pictures.length === 0 && html`<p class="quiet">${text === '' ? messages.none : messages.notFound({ text })}</p>`}
        <ul class="pictures media">
          ${pictures.map((picture) => (target ? choiceItem(visit, picture, target) : pictureItem(visit, picture)))}
        </ul>
        <div class="actions">
          ${request.query('after') !== undefined && link(address(), messages.first)}
          ${found.length > PER_PAGE && link(address(pictures.at(-1)!.imageKey), visit.messages.list.next)}
        </div>
      </div>
    </div>`,
  };
}

/** One more picture than a page shows, where there are more. */
async function findPage({ db, shopId }: ShopVisit, text: string, after: string | undefined) {
  const last = after !== undefined && isId(after) ? after : undefined;
  if (text === '') return findNewestPictures(db, shopId, last, PER_PAGE + 1);
  const shown = last === undefined ? undefined : await findLibraryPicture(db, shopId, last);
  return findPicturesByName(db, shopId, text, shown, PER_PAGE + 1);
}

function pictureItem(visit: ShopVisit, picture: LibraryPicture): Markup {
  return html`<li><a href="${pathOf(visit, picture.imageKey)}">${thumbnail(visit, picture)}</a></li>`;
}

function choiceItem(visit: ShopVisit, picture: LibraryPicture, target: PickTarget): Markup {
  return html`<li>
    ${thumbnail(visit, picture)} ${chooseButton(visit, target, picture, altText(visit, picture))}
  </li>`;
}

function thumbnail(visit: ShopVisit, picture: LibraryPicture): Markup {
  return html`<img
      src="${pathOfPicture(visit, picture, THUMBNAIL)}"
      alt="${altText(visit, picture)}"
      loading="lazy"
    />
    <span class="name">${picture.name}</span>`;
}

function uploadForm(visit: ShopVisit, target: PickTarget | undefined): Markup {
  const messages = visit.messages.media;
  return html`<form
    method="post"
    action="${adminPath(visit, '/media/new', { for: target && toParameter(target) })}"
    enctype="multipart/form-data"
    class="drop"
    hx-boost="false"
  >
    ${uploadField(visit, 'new-picture', messages.upload, target?.kind === 'logo')}
    <button>${visit.messages.settings.logo.upload}</button>
  </form>`;
}

/** The picture at a place of the settings, with the ways to another one. */
export function pictureCard(visit: ShopVisit, place: PicturePlace): Markup {
  const messages = visit.messages.media;
  const address = addressAt(visit.settings, place);
  return html`<section class="card" id="field-${PLACE_SETTINGS[place]}">
    <h2>${messages.places[place]}</h2>
    ${
      address === null
        ? html`<p class="quiet">${messages.noPicture}</p>`
        : html`<p class="logo-shown"><img src="${address}" alt="${messages.places[place]}" /></p>`
    }
    ${
      visit.may('settings_write') &&
      html`<div class="actions">
        ${pickerLink(visit, { kind: place })}
        ${
          address !== null &&
          buttonForm({
            action: adminPath(visit, '/media/choose'),
            text: messages.removeChosen,
            fields: { for: place, imageKey: '' },
          })
        }
      </div>`
    }
  </section>`;
}
