import { Type } from 'typebox';

export interface PageRange {
  page: number;
  resultsPerPage: number;
  offset: number;
}

/** The two parameters of a list, and their meaning for a list with this default and maximum. */
export function paging(size: { standard: number; maximum: number } = { standard: 10, maximum: 100 }) {
  const parameters = {
    page: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Page to show, from 1. Beyond the end: no items, and the true number of results.',
      examples: [1],
    }),
    resultsPerPage: Type.Integer({
      minimum: 1,
      default: size.standard,
      description: `Page size; more than ${size.maximum} is taken as ${size.maximum}.`,
      examples: [size.standard],
    }),
  };
  const pageOf = (query: { page: number; resultsPerPage: number }): PageRange => {
    const resultsPerPage = Math.min(query.resultsPerPage, size.maximum);
    return { ...toPage(query.page, 1, resultsPerPage), resultsPerPage };
  };
  return { parameters, pageOf };
}

/** More pages than any list has; the database accepts an offset of this size. */
const MAX_OFFSET_PAGES = 2_147_483_646;

/**
 * The page of a list whose pages are counted from `first`. Any number is a page, so one beyond the list is an empty
 * page; a number that JSON can't hold exactly is answered as the largest that it can.
 */
export function toPage(asked: number, first: 0 | 1, pageSize: number): { page: number; offset: number } {
  const page = Math.min(asked, Number.MAX_SAFE_INTEGER);
  return { page, offset: Math.min(page - first, MAX_OFFSET_PAGES) * pageSize };
}

export function paged<Item>({ page, resultsPerPage }: PageRange, results: number, items: Item[]) {
  return { results, page, resultsPerPage, items };
}
