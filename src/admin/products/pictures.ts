import { html, type Markup } from '../../http/html.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { imageUrl, imagePath } from '../../platform/media/images.ts';
import { Redirect } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';
import { readProduct } from './product-page.ts';
import { findPictures, type Picture } from './queries.ts';

/** The pictures of a product: they are uploaded, put in order and deleted at once, without the form around them. */
export function pictures(pages: ShopPages): void {
  pages.upload('/products/:productId/pictures', 'products_write', async (visit, { params, upload }) => {
    const { productId } = await readProduct(visit, params['productId']!);
    await visit.call('POST', `/rs/products/${productId}/slideshow`, { upload });
    // A script asks for the page again by itself; without one, the browser goes back to it.
    const page = to(visit, `/products/${productId}`);
    return {
      type: 'text/html; charset=utf-8',
      content: html`<!doctype html>
        <html lang="${visit.language}">
          <head>
            <meta http-equiv="refresh" content="0;url=${page}" />
            <title>${visit.words.form.saved}</title>
          </head>
          <body>
            <a href="${page}">${visit.words.form.saved}</a>
          </body>
        </html>`.text,
    };
  });

  /** `move` and `by` move one picture; without them the fields `name` are the whole order. */
  pages.post('/products/:productId/pictures/order', 'products_write', async (visit, form) => {
    const { productId } = await readProduct(visit, form.params['productId']!);
    const names = (await findPictures(visit.db, visit.shopId, productId)).map(({ name }) => name);
    const moved = form.field('move');
    const order =
      moved === '' ? form.fieldList('name') : movedNames(names, moved, form.field('by') === '1' ? 1 : -1);
    await visit.call('PUT', `/rs/products/${productId}/slideshow/sequence`, { body: order });
    // The first picture is the one that lists show.
    if (order[0] !== undefined) {
      await visit.call('PATCH', `/rs/products/${productId}`, {
        body: [{ op: 'add', path: '/productImage', value: order[0] }],
      });
    }
    return new Redirect(to(visit, `/products/${productId}`));
  });

  pages.post('/products/:productId/pictures/delete', 'products_write', async (visit, form) => {
    const { productId } = await readProduct(visit, form.params['productId']!);
    const name = form.field('name');
    await visit.call('DELETE', `/rs/products/${productId}/slideshow/${encodeURIComponent(name)}`);
    return new Redirect(to(visit, `/products/${productId}`), visit.words.products.pictures.deleted({ name }));
  });
}

function movedNames(names: readonly string[], name: string, by: 1 | -1): string[] {
  const from = names.indexOf(name);
  const others = names.filter((one) => one !== name);
  return from < 0 ? [...names] : others.toSpliced(Math.max(0, from + by), 0, name);
}

export async function picturesCard(visit: ShopVisit, { productId, kind }: ProductRow): Promise<Markup> {
  const found = await findPictures(visit.db, visit.shopId, productId);
  const words = visit.words.products.pictures;
  const mayWrite = visit.may('products_write');
  const path = to(visit, `/products/${productId}/pictures`);
  return html`<section class="card" id="pictures" data-pictures="${path}">
    <h2>${words.title}</h2>
    ${
      found.length > 0 &&
      html`<ul class="pictures">
        ${found.map((picture, index) => pictureItem(visit, picture, { path, index, count: found.length }))}
      </ul>`
    }
    ${
      mayWrite &&
      html`<form method="post" action="${path}" enctype="multipart/form-data" class="drop" hx-boost="false">
        <label for="picture-files"
          >${found.length === 0 && kind === 'variation' ? words.ofMaster : words.drop}</label
        >
        <input type="file" id="picture-files" name="image" accept=".png,.jpg,.jpeg,.gif" multiple required />
        <button class="without-script">${words.upload}</button>
      </form>`
    }
    <p class="problem" role="alert" data-problem hidden></p>
    <p class="quiet" role="status" data-progress="${words.progress}" hidden></p>
  </section>`;
}

function pictureItem(
  visit: ShopVisit,
  { name, imageKey, sizes }: Picture,
  { path, index, count }: { path: string; index: number; count: number },
): Markup {
  const words = visit.words.products.pictures;
  const file = sizes.MediumSmall ?? sizes.Small ?? sizes.Large;
  const arrow = (by: string, label: string, sign: string, isDisabled: boolean) =>
    html`<form method="post" action="${path}/order">
      <input type="hidden" name="move" value="${name}" />
      <button name="by" value="${by}" class="link" aria-label="${label}" ${isDisabled && html`disabled`}>
        ${sign}
      </button>
    </form>`;
  return html`<li draggable="${visit.may('products_write') ? 'true' : 'false'}" data-name="${name}">
    <img
      src="${file ? imagePath(imageUrl(visit.origin, visit.shopId, imageKey, file.file)) : ''}"
      alt="${name}"
      loading="lazy"
    />
    ${index === 0 && html`<span class="chip good">${words.main}</span>`}
    ${
      visit.may('products_write') &&
      html`<div class="picture-buttons">
        ${arrow('-1', words.earlier({ name }), '‹', index === 0)}
        ${arrow('1', words.later({ name }), '›', index === count - 1)}
        <form method="post" action="${path}/delete" data-confirm="${words.confirmDelete({ name })}">
          <input type="hidden" name="name" value="${name}" />
          <button class="link" aria-label="${words.delete({ name })}">×</button>
        </form>
      </div>`
    }
  </li>`;
}
