import type { Readable } from 'node:stream';
import type { Markup } from '../http/html.ts';
import type { Asset } from './layout/assets.ts';
import type { AppMenuEntry, MenuEntry } from './layout/menu.ts';

/** A page as its handler returns it. The layout is rendered around it. */
export interface AdminPage {
  title: string;
  /** The marked entry of the menu. */
  menu?: MenuEntry | AppMenuEntry;
  /** The pages above this one, from the list to the page itself: `Orders › 1003`. */
  breadcrumbs?: readonly { href: string; text: string }[];
  /** Buttons beside the title. */
  actions?: Markup | false | undefined;
  main: Markup;
  /** Scripts that only this page needs. */
  scripts?: readonly Asset[];
  /** The origins of frames that are not of the admin itself. */
  frames?: readonly string[];
  status?: number;
  /** A redirect by the browser to a page outside the admin, which a form must not lead to directly. */
  next?: string;
}

/** A response that is not a page: a PDF, a spreadsheet, a fragment that a script requests. */
export interface AdminFile {
  type: string;
  content: string | Buffer | Readable;
  /** The browser saves it under this name instead of showing it. */
  fileName?: string;
  /** It is an email of the shop, which shows pictures from any place. */
  showsPictures?: boolean;
}
