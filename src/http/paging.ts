import { Type } from 'typebox';

export interface Page {
  page: number;
  resultsPerPage: number;
  offset: number;
}

/** The two parameters of a list, and what they mean for a list with this default and maximum. */
export function paging(size: { standard: number; maximum: number } = { standard: 10, maximum: 100 }) {
  const parameters = {
    page: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
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
  const pageOf = (query: { page: number; resultsPerPage: number }): Page => {
    const resultsPerPage = Math.min(query.resultsPerPage, size.maximum);
    return { page: query.page, resultsPerPage, offset: (query.page - 1) * resultsPerPage };
  };
  return { parameters, pageOf };
}

export function paged<Item>({ page, resultsPerPage }: Page, results: number, items: Item[]) {
  return { results, page, resultsPerPage, items };
}
