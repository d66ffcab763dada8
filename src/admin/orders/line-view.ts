import { html, type Markup } from '../../http/html.ts';
import { imagePath } from '../../platform/media/images.ts';
import type { OrderLine } from './order-view.ts';

/** `Harbour Tea (Size: small)` */
export function lineName({ name, variationString }: Pick<OrderLine, 'name' | 'variationString'>): string {
  return variationString ? `${name} (${variationString})` : name;
}

/** A small picture; it adds nothing to the name beside it. */
export function linePicture({ images }: Pick<OrderLine, 'images'>): Markup {
  const image = images.find(({ classifier }) => classifier === 'Small') ?? images[0];
  return html`<span class="picture"
    >${image && html`<img src="${imagePath(image.url)}" alt="" width="48" height="48" loading="lazy" />`}</span
  >`;
}
