import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { asset, toAsset, type Asset } from '../../http/assets.ts';

export type { Asset };

const { resolve } = createRequire(import.meta.url);

/** All files that pages of the admin load; those defined below are added to it. */
export const ASSETS: Asset[] = [];

function served(file: Asset): Asset {
  ASSETS.push(file);
  return file;
}

export const STYLESHEET = served(asset('admin', 'css'));
export const SCRIPT = served(asset('admin', 'js'));

/** Draws the chart of the home page. */
export const HOME_SCRIPT = served(asset('admin-home', 'js'));

/** Drags categories. */
export const CATEGORIES_SCRIPT = served(asset('admin-categories', 'js'));

/** Shows and hides passwords. */
export const PASSWORD_SCRIPT = served(asset('admin-password', 'js'));

/** Sends the secret of a link of the host, which only the browser has. */
export const ENTER_SCRIPT = served(asset('admin-enter', 'js'));

/** Forms of settings: lists of entries, colours and previews. */
export const SETTINGS_SCRIPT = served(asset('admin-settings', 'js'));

/** The button of printable pages. */
export const PRINT_SCRIPT = served(asset('admin-print', 'js'));

/** Replaces parts of a page without a reload, where attributes say so. */
export const HTMX = served(toAsset('htmx', 'js', readFileSync(resolve('htmx.org/dist/htmx.min.js'))));

/** Draws charts. */
export const UPLOT = served(toAsset('uplot', 'js', readFileSync(resolve('uplot/dist/uPlot.iife.min.js'))));
export const UPLOT_STYLESHEET = served(
  toAsset('uplot', 'css', readFileSync(resolve('uplot/dist/uPlot.min.css'))),
);

/** The engine of the rich-text editor, and its toolbar. */
export const SQUIRE = served(toAsset('squire', 'js', readFileSync(resolve('squire-rte/dist/squire.js'))));
export const RICH_TEXT_SCRIPT = served(asset('admin-rich-text', 'js'));

/** Opens the media library in a dialog, to choose a picture. */
export const PICKER_SCRIPT = served(asset('admin-picker', 'js'));

/** Chooses pictures for blocks of pages. */
export const PAGES_SCRIPT = served(asset('admin-pages', 'js'));

/** Pictures by drag and drop, and the grid of variations. */
export const PRODUCTS_SCRIPT = served(asset('admin-products', 'js'));

/** The frames of apps, and what they may ask of the page. */
export const APPS_SCRIPT = served(asset('admin-apps', 'js'));

/**
 * Scripts and styles are only files of this service, so that no user text can become one; this also forbids what htmx
 * could evaluate. Product pictures may be in a separate store.
 */
export const contentSecurityPolicy = (frames: readonly string[] = []) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // uPlot positions its parts with style attributes, which only the scripts of this service can set.
    "style-src 'self'",
    "img-src 'self' data: blob: https: http:",
    "connect-src 'self'",
    "form-action 'self'",
    ["frame-src 'self'", ...frames].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
