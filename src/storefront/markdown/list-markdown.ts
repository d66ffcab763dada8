import type { Product } from '../../catalogue/products/schema.ts';
import { shownPrice } from '../../catalogue/products/shown-price.ts';
import type { Block } from '../../content/blocks.ts';
import { textsOf } from '../../content/blocks.ts';
import { plainText } from '../../http/html.ts';
import {
  markdownDocument,
  markdownLink,
  markdownList,
  markdownParagraphs,
  markdownText,
} from '../../http/markdown.ts';
import { priceText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { absoluteUrl, categoryPath, productPath, type Visit } from '../visit.ts';
import { markdownAddress } from './product-markdown.ts';

const MAX_TEXT_LENGTH = 20_000;

export interface MarkdownCategory {
  name: string;
  description: string | undefined;
  path: string;
  children: readonly { name: string; alias: string }[];
  products: readonly Product[];
  page: number;
  hasMore: boolean;
}

/** A page of a category for readers that take text. Pure. */
export function categoryMarkdown(visit: Visit, category: MarkdownCategory): string {
  const { name, description, path, children, products, page, hasMore } = category;
  const messages = messagesIn(visit.locale).storefront.listing;
  const next = absoluteUrl(visit, `${path}.md`, { page: String(page + 1) });
  return markdownDocument([
    `# ${markdownText(name)}`,
    page === 1 && markdownParagraphs(plainText(description ?? '', MAX_TEXT_LENGTH)).join('\n\n'),
    children.length > 0 &&
      `## ${messages.subcategories}\n\n${markdownList(
        children.map((child) => markdownLink(child.name, markdownAddress(visit, categoryPath(child.alias)))),
      )}`,
    markdownList(products.map((product) => productLine(visit, product))),
    hasMore && markdownLink(messages.next, next),
  ]);
}

function productLine(visit: Visit, product: Product): string {
  const { settings, locale } = visit;
  const { onRequest, from } = messagesIn(locale).storefront.product;
  const link = markdownLink(product.name, markdownAddress(visit, productPath(product.productNumber)));
  const shown = shownPrice(product, settings, locale);
  const price = shown ? `${shown.isFrom ? `${from} ` : ''}${priceText(shown.price, locale)}` : onRequest;
  return `${link}: ${markdownText(price)}`;
}

/** A page that the shop writes itself: the texts of its blocks, in their order. Pure. */
export function blocksMarkdown(title: string, blocks: readonly Block[]): string {
  let left = MAX_TEXT_LENGTH;
  const parts = [...textsOf(blocks)].flatMap((text) => {
    const lines = left > 0 ? plainText(text, left) : '';
    left -= lines.length;
    return markdownParagraphs(lines);
  });
  return markdownDocument([`# ${markdownText(title)}`, ...parts]);
}

/** A page of one text, such as a legal one. Pure. */
export function textMarkdown(title: string, texts: readonly string[]): string {
  const parts = texts.flatMap((text) => markdownParagraphs(plainText(text, MAX_LEGAL_LENGTH)));
  return markdownDocument([`# ${markdownText(title)}`, ...parts]);
}

const MAX_LEGAL_LENGTH = 200_000;
