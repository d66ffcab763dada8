import type { Markup, Part } from '../../http/html.ts';
import type { Choice } from './form.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/** The definition of a list, and its state in the address. */

export interface Column<Row> {
  /** Used in the address when columns are chosen. */
  name: string;
  title: string;
  cell: (row: Row) => Part;
  /** Numbers and amounts are right-aligned. */
  isNumeric?: boolean;
  /** The list can be sorted by it: `sort=name` or `sort=-name`. */
  isSortable?: boolean;
  /** Hidden by default. */
  isExtra?: boolean;
}

export type Filter = (
  | { kind: 'search'; name: string; label: string }
  | { kind: 'choice'; name: string; label: string; choices: readonly Choice[] }
  | { kind: 'date'; name: string; label: string }
  | { kind: 'number'; name: string; label: string }
  /** A text, with values that are offered while it is typed. */
  | { kind: 'text'; name: string; label: string; offered: readonly string[] }
) & {
  /** Shown with others that are seldom used, in a part that opens. */
  isMore?: boolean;
};

/** Parts of a list that are always offered instead of "all": a parameter of the address, and its values. */
export interface Tabs {
  name: string;
  /** The first one is shown when the address names none. */
  tabs: readonly { value: string; text: string; count?: number | undefined }[];
  current: string;
}

export interface ListAction {
  /** The form with the field `id` of every chosen row is sent here. */
  action: string;
  text: string;
  kind?: 'danger';
  /** Opens a page with a form of its own instead: the ids are in its address. */
  method?: 'get' | 'post';
}

/** The state of a list in the address. */
export interface ListState {
  /** Starts at 1. */
  page: number;
  limit: number;
  offset: number;
  /** A column, prefixed with a minus for descending; undefined: the list's default order. */
  sort: string | undefined;
  filter: (name: string) => string;
}

export interface ListDefinition<Row> {
  /** Of the page below the shop: `/customers`. */
  path: string;
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  filters: readonly Filter[];
  tabs?: Tabs;
  rows: readonly Row[];
  /** The number of rows on all pages. */
  results: number;
  /** There are, or may be, more: not all were checked. */
  isMore?: boolean;
  /** For a list that finds any page as fast as the first one. */
  lastPage?: number;
  /** The rows that have not been opened yet: they are highlighted, and labelled. */
  unread?: { text: string; is: (row: Row) => boolean };
  href: (row: Row) => string;
  /** The id of a row in actions on several rows. */
  idOf?: (row: Row) => string;
  bulk?: readonly ListAction[];
  /** A file with all rows that match the filters. */
  exportPath?: string;
  /** Shown above the rows, and loaded again with them. */
  above?: Markup | undefined;
  /** The message for an empty list. */
  empty: Part;
}

const PER_PAGE = 50;
/** Users do not page further, and the database would read all rows before it. */
export const LAST_PAGE = 200;

export function listState(
  request: PageRequest,
  columns: readonly Column<never>[],
  lastPage = LAST_PAGE,
): ListState {
  const number = Number(request.query('page') ?? 1);
  const page = Number.isInteger(number) && number > 0 ? Math.min(number, lastPage) : 1;
  const sort = request.query('sort');
  const isKnown = columns.some(({ name, isSortable }) => isSortable && name === sort?.replace(/^-/, ''));
  return {
    page,
    limit: PER_PAGE,
    offset: (page - 1) * PER_PAGE,
    sort: isKnown ? sort : undefined,
    filter: (name) => request.query(name)?.slice(0, 200) ?? '',
  };
}

/** The parameters of the address, as links to other states of the list repeat them. */
export type Query = Record<string, string | undefined>;

export function currentQuery<Row>(
  request: PageRequest,
  { filters, tabs }: ListDefinition<Row>,
  { sort }: ListState,
): Query {
  const names = [...filters.map(({ name }) => name), ...(tabs ? [tabs.name] : [])];
  const filtered = names.map((name): [string, string | undefined] => [name, request.query(name)]);
  return { ...Object.fromEntries(filtered), sort, columns: request.query('columns') };
}
