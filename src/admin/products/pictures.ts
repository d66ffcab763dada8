import { Type } from 'typebox';
import { setPictureTexts } from '../../catalogue/products/picture-texts.ts';
import { addImage, deleteImage, setSlideshowSequence } from '../../catalogue/products/slideshow.ts';
import { updateProduct } from '../../catalogue/products/write-routes.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { imageUrl, imagePath } from '../../platform/media/images.ts';
import {
  declareForm,
  declareHidden,
  declareRows,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { languageName } from '../components/language-name.ts';
import { pickerLink } from '../media/picker.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { readProduct } from './product-page.ts';
import { findPictures, type Picture } from './queries.ts';
import { Redirect } from '../../http/page-kit.ts';

/** A row is a picture. */
const TEXTS = declareRows(
  { body: setPictureTexts.body!.properties.items.items },
  ({ products: { pictures: messages } }) => ({
    text: { label: messages.texts, isLocalised: true, autocomplete: 'off' },
  }),
);

/** The pictures in the order of the page. */
const SHOWN = declareForm({ body: Type.Object({ name: Type.Array(Type.String()) }) }, () => ({
  name: { kind: 'ticks', label: '' },
}));
const MOVE = declareHidden({ move: 255, by: 2 });
const PICTURE = declareHidden({ name: 255 });

/** The pictures of a product: uploads, reordering and deletion take effect at once, without the surrounding form. */
export function pictures(pages: ShopPages): void {
  pages.upload('/products/:productId/pictures', 'products_write', 'image', async (visit, request, image) => {
    const { productId } = await readProduct(visit, request.params['productId']!);
    await visit.call(addImage, { params: { productId }, body: { image } });
    // A script reloads the page; without one, the browser returns to it.
    const page = adminPath(visit, `/products/${productId}`);
    return {
      type: 'text/html; charset=utf-8',
      content: html`<!doctype html>
        <html lang="${visit.language}">
          <head>
            <meta http-equiv="refresh" content="0;url=${page}" />
            <title>${visit.messages.form.saved}</title>
          </head>
          <body>
            <a href="${page}">${visit.messages.form.saved}</a>
          </body>
        </html>`.text,
    };
  });

  /** `move` and `by` move one picture; without them the fields `name` are the whole order. */
  pages.post('/products/:productId/pictures/order', 'products_write', async (visit, form) => {
    const { productId } = await readProduct(visit, form.params['productId']!);
    const names = (await findPictures(visit.db, visit.shopId, productId)).map(({ name }) => name);
    const { move, by } = readFields(MOVE, form, visit);
    const order =
      move === '' ? readFields(SHOWN, form, visit).name : movedNames(names, move, by === '1' ? 1 : -1);
    await visit.inTransaction(async (call) => {
      await call(setSlideshowSequence, { params: { productId }, body: order });
      // Lists show the first picture.
      if (order[0] === undefined) return;
      await call(updateProduct, {
        params: { productId },
        body: [{ op: 'add', path: '/productImage', value: order[0] }],
      });
    });
    return new Redirect(adminPath(visit, `/products/${productId}`));
  });

  pages.post(
    '/products/:productId/pictures/texts',
    'products_write',
    async (visit, form) => {
      const { productId } = await readProduct(visit, form.params['productId']!);
      const found = await findPictures(visit.db, visit.shopId, productId);
      const shown = readFields(SHOWN, form, visit).name;
      const items = found.flatMap(({ name, altTexts }) => {
        const index = shown.indexOf(name);
        // A picture added since the form was opened keeps its texts.
        const textIn = (locale: string) =>
          index === -1
            ? (altTexts[locale] ?? '')
            : readFields(TEXTS, form, visit, { row: String(index), locale }).text;
        return visit.settings.locales.map((locale) => ({ name, locale, text: textIn(locale) }));
      });
      await visit.call(setPictureTexts, { params: { productId }, body: { items } });
      return new Redirect(
        adminPath(visit, `/products/${productId}`),
        visit.messages.products.pictures.textsSaved,
      );
    },
    optionsOf(TEXTS),
  );

  pages.post('/products/:productId/pictures/delete', 'products_write', async (visit, form) => {
    const { productId } = await readProduct(visit, form.params['productId']!);
    const { name } = readFields(PICTURE, form, visit);
    await visit.call(deleteImage, { params: { productId, imageName: name } });
    return new Redirect(
      adminPath(visit, `/products/${productId}`),
      visit.messages.products.pictures.deleted({ name }),
    );
  });
}

function movedNames(names: readonly string[], name: string, by: 1 | -1): string[] {
  const from = names.indexOf(name);
  const others = names.filter((one) => one !== name);
  return from < 0 ? [...names] : others.toSpliced(Math.max(0, from + by), 0, name);
}

export async function picturesCard(visit: ShopVisit, { productId, kind }: ProductRow): Promise<Markup> {
  const found = await findPictures(visit.db, visit.shopId, productId);
  const messages = visit.messages.products.pictures;
  const mayWrite = visit.may('products_write');
  const path = adminPath(visit, `/products/${productId}/pictures`);
  return html`<section class="card" id="pictures" data-pictures="${path}">
    <h2>${messages.title}</h2>
    ${
      found.length > 0 &&
      html`<ul class="pictures">
          ${found.map((picture, index) => pictureItem(visit, picture, { path, index, count: found.length }))}
        </ul>
        ${mayWrite && textsForm(visit, path, found)}`
    }
    ${
      mayWrite &&
      html`<form method="post" action="${path}" enctype="multipart/form-data" class="drop" hx-boost="false">
        <label for="picture-files"
          >${found.length === 0 && kind === 'variation' ? messages.ofMaster : messages.drop}</label
        >
        <input type="file" id="picture-files" name="image" accept=".png,.jpg,.jpeg,.gif" multiple required />
        <button class="without-script">${messages.upload}</button>
      </form>`
    }
    ${mayWrite && html`<p>${pickerLink(visit, { kind: 'product', id: productId }, 'pictures')}</p>`}
    <p class="problem" role="alert" data-problem hidden></p>
    <p class="quiet" role="status" data-progress="${messages.progress}" hidden></p>
  </section>`;
}

/** The descriptions of the pictures, in every language of the shop. */
function textsForm(visit: ShopVisit, path: string, found: readonly Picture[]): Markup {
  const messages = visit.messages.products.pictures;
  const { locales } = visit.settings;
  return html`<details class="picture-texts">
    <summary>${messages.texts}</summary>
    <form method="post" action="${path}/texts">
      <p class="hint">${messages.textsHint}</p>
      ${found.map(
        (picture, index) =>
          html`<fieldset>
            <legend>
              <img src="${fileAddress(visit, picture)}" alt="" width="48" height="48" loading="lazy" />
              ${picture.name}
            </legend>
            <input type="hidden" name="name" value="${picture.name}" />
            ${locales.map((locale) => {
              const values = { text: picture.altTexts[locale] };
              const field = showFields(TEXTS, visit, {
                values,
                row: String(index),
                locale,
                draft: undefined,
              });
              return field('text', { label: languageName(locale, visit.language, locales) });
            })}
          </fieldset>`,
      )}
      <button>${visit.messages.form.save}</button>
    </form>
  </details>`;
}

function fileAddress({ origin, shopId }: ShopVisit, { imageKey, sizes }: Picture): string {
  const file = sizes.MediumSmall ?? sizes.Small ?? sizes.Large;
  return file ? imagePath(imageUrl(origin, shopId, imageKey, file.file)) : '';
}

function pictureItem(
  visit: ShopVisit,
  picture: Picture,
  { path, index, count }: { path: string; index: number; count: number },
): Markup {
  const messages = visit.messages.products.pictures;
  const { name, altTexts } = picture;
  const arrow = (by: string, label: string, sign: string, isDisabled: boolean) =>
    html`<form method="post" action="${path}/order">
      <input type="hidden" name="move" value="${name}" />
      <button name="by" value="${by}" class="link" aria-label="${label}" ${isDisabled && html`disabled`}>
        ${sign}
      </button>
    </form>`;
  return html`<li draggable="${visit.may('products_write') ? 'true' : 'false'}" data-name="${name}">
    <img src="${fileAddress(visit, picture)}" alt="${altTexts[visit.locale] ?? name}" loading="lazy" />
    ${index === 0 && html`<span class="chip good">${messages.main}</span>`}
    ${
      visit.may('products_write') &&
      html`<div class="picture-buttons">
        ${arrow('-1', messages.earlier({ name }), '‹', index === 0)}
        ${arrow('1', messages.later({ name }), '›', index === count - 1)}
        <form method="post" action="${path}/delete" data-confirm="${messages.confirmDelete({ name })}">
          <input type="hidden" name="name" value="${name}" />
          <button class="link" aria-label="${messages.delete({ name })}">×</button>
        </form>
      </div>`
    }
  </li>`;
}
